import { percentile } from '../load/distribution.ts';
import { table } from '../stack/welcome.ts';

/** One row per target: a name and its figures of every round, by column. */
export interface ReportRow {
  readonly name: string;
  readonly columns: readonly (readonly number[])[];
}

const NAMES: Readonly<Record<string, string>> = { nginx: 'nginx', bare: 'bare node:http + undici', gateway: 'gateway' };

export function median(values: readonly number[]): number {
  return percentile(values, 50) ?? NaN;
}

/** A table with median / min / max of each column. `digits` are those after the point, by column. */
export function printFigures(
  title: string,
  heads: readonly string[],
  digits: readonly number[],
  rows: readonly ReportRow[],
): void {
  const spread = (values: readonly number[], column: number): string =>
    [median(values), Math.min(...values), Math.max(...values)]
      .map((value) => value.toFixed(digits[column] ?? 1))
      .join(' / ');
  console.log(`\n${title}`);
  console.log(
    table([['target', ...heads], ...rows.map((row) => [NAMES[row.name] ?? row.name, ...row.columns.map(spread)])]).join(
      '\n',
    ),
  );
}

/**
 * A figure beside its target and stretch; `at most` unless told. Says plainly when there is nothing to compare
 * with.
 */
export function printTarget(what: string, value: number, target: number, stretch: number | undefined, unit = ''): void {
  const aim = stretch === undefined ? '' : `, aim ${stretch}${unit}`;
  if (Number.isNaN(value)) console.log(`  ${what}: not measured (target ${target}${unit}${aim})`);
  else
    console.log(
      `  ${what}: ${value.toFixed(2)}${unit} (target ${target}${unit}${aim}): ${value <= target ? 'met' : 'MISSED'}`,
    );
}

/** Median over the rounds of the quotient within each round: what disturbs a round disturbs both. */
export function medianRatio(over: readonly number[] | undefined, under: readonly number[] | undefined): number {
  if (over === undefined || under === undefined) return NaN;
  return median(over.map((value, round) => value / (under[round] ?? NaN)));
}
