import { textGrams } from '@sluice/routing';
import type { Predictor } from './predictors.ts';
import { linear } from './predictors.ts';
import type { RoutingTable } from './routing-tables.ts';

const BUCKETS = 16_384;

/** Prompts as unit vectors of hashed words, the rarer the heavier. */
interface Sketches {
  readonly codes: readonly Int32Array[];
  readonly weight: Float64Array;
}

function sketch(table: RoutingTable, rows: readonly number[], weight?: Float64Array): Sketches {
  const codes = rows.map((row) => textGrams(table.prompts[row] ?? '', BUCKETS));
  if (weight !== undefined) return { codes, weight };
  const found = new Float64Array(BUCKETS);
  for (const one of codes) for (const code of one) found[code >> 1] = (found[code >> 1] as number) + 1;
  return { codes, weight: found.map((count) => Math.log((1 + rows.length) / (1 + count))) };
}

function lengthOf(codes: Int32Array, weight: Float64Array): number {
  let sum = 0;
  for (const code of codes) sum += (weight[code >> 1] as number) ** 2;
  return Math.sqrt(sum) || 1;
}

const signed = (code: number, value: number): number => ((code & 1) === 0 ? value : -value);

/**
 * Mean quality of the most similar prompts, by cosine, the nearer the heavier. Rows without a prompt are predicted
 * by `linear`.
 */
export function nearest(count: number): Predictor {
  return (table, train, test) => {
    const known = train.filter((row) => table.prompts[row] !== undefined);
    const { codes, weight } = sketch(table, known);
    const lists: number[][] = Array.from({ length: BUCKETS }, () => []);
    const lengths = codes.map((one) => lengthOf(one, weight));
    codes.forEach((one, i) => {
      for (const code of one) (lists[code >> 1] as number[]).push(i * 2 + (code & 1));
    });
    const similar = new Float64Array(known.length);
    const without = linear(table, train, test);
    return sketch(table, test, weight).codes.map((one, i) => {
      if (table.prompts[test[i] as number] === undefined) return without[i] as number[];
      similar.fill(0);
      for (const code of one) {
        const square = (weight[code >> 1] as number) ** 2;
        for (const entry of lists[code >> 1] as number[])
          similar[entry >> 1] = (similar[entry >> 1] as number) + ((entry & 1) === (code & 1) ? square : -square);
      }
      for (let k = 0; k < similar.length; k += 1) similar[k] = (similar[k] as number) / (lengths[k] as number);
      const cut = similar.toSorted().at(-Math.min(count, similar.length)) as number;
      const sums = table.models.map(() => 0);
      let total = 0;
      similar.forEach((value, k) => {
        if (value < cut) return;
        const share = Math.max(value, 1e-6);
        total += share;
        for (let model = 0; model < sums.length; model += 1)
          sums[model] = (sums[model] as number) + share * (table.qualities[known[k] as number]?.[model] as number);
      });
      return sums.map((sum) => sum / total);
    });
  };
}

/**
 * Mean quality of the prompt's cluster: spherical k-means (Dhillon and Modha 2001) on the same vectors, five
 * rounds.
 */
export function clusters(count: number): Predictor {
  return (table, train, test) => {
    const known = train.filter((row) => table.prompts[row] !== undefined);
    const { codes, weight } = sketch(table, known);
    let centres = Array.from({ length: count }, (_, c) =>
      centreOf([codes[Math.floor((c * codes.length) / count)] as Int32Array], weight),
    );
    let member: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      member = codes.map((one) => closest(one, centres, weight));
      centres = centres.map((centre, c) => {
        const own = codes.filter((_, i) => member[i] === c);
        return own.length === 0 ? centre : centreOf(own, weight);
      });
    }
    const overall = table.models.map(
      (_, k) => known.reduce((sum, row) => sum + (table.qualities[row]?.[k] as number), 0) / known.length,
    );
    const means = centres.map((_, c) => {
      const own = known.filter((_row, i) => member[i] === c);
      return table.models.map(
        (_model, k) =>
          ((overall[k] as number) * 5 + own.reduce((sum, row) => sum + (table.qualities[row]?.[k] as number), 0)) /
          (own.length + 5),
      );
    });
    const without = linear(table, train, test);
    return sketch(table, test, weight).codes.map(
      (one, i) =>
        (table.prompts[test[i] as number] === undefined
          ? without[i]
          : means[closest(one, centres, weight)]) as number[],
    );
  };
}

function centreOf(members: readonly Int32Array[], weight: Float64Array): Float64Array {
  const centre = new Float64Array(BUCKETS);
  for (const codes of members) {
    const length = lengthOf(codes, weight);
    for (const code of codes)
      centre[code >> 1] = (centre[code >> 1] as number) + signed(code, (weight[code >> 1] as number) / length);
  }
  const size = Math.sqrt(centre.reduce((sum, value) => sum + value * value, 0)) || 1;
  return centre.map((value) => value / size);
}

function closest(codes: Int32Array, centres: readonly Float64Array[], weight: Float64Array): number {
  let best = 0;
  let most = -Infinity;
  centres.forEach((centre, c) => {
    let sum = 0;
    for (const code of codes) sum += signed(code, (weight[code >> 1] as number) * (centre[code >> 1] as number));
    if (sum > most) [best, most] = [c, sum];
  });
  return best;
}
