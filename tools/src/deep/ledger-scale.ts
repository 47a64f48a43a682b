import { z } from 'zod';
import { runBenchScript } from '../bench/bench-process.ts';
import type { DeepCheck } from './deep-check.ts';

const SCRIPT = 'apps/control-plane/src/bench/ledger-scale.ts';
const ROWS = 10_000_000;
/** Slowest of the runs, milliseconds; what is measured stands in the script. */
const BOUNDS_MS: Readonly<Record<string, number>> = {
  monthByDayAndModel: 200,
  monthByDayModelAndFeature: 200,
  newestPage: 50,
  pageInTheMiddle: 50,
  nextPage: 50,
  pageOfEveryTenant: 50,
  pageOfTimeouts: 50,
  pageOfAFeature: 50,
  pageOfAModel: 50,
  oneRequest: 50,
};

const Figures = z.record(z.string(), z.number());
const Answer = z.union([z.strictObject({ skipped: z.string() }), Figures]);

/**
 * Which of the figures break a bound, in words. The median decides: the slowest run is told, and on a busy machine
 * means nothing.
 */
export function judgeScale(figures: Readonly<Record<string, number>>): string[] {
  const faults: string[] = [];
  for (const [name, bound] of Object.entries(BOUNDS_MS)) {
    const median = figures[`${name}MsP50`];
    if (median === undefined || !(median < bound))
      faults.push(`${name} took ${median?.toFixed(1) ?? 'no figure'} ms, not below ${bound}`);
  }
  if (figures['differences'] !== 0) faults.push('the rollups differ from the rows');
  return faults;
}

/** Fills a ledger of its own with 10 million calls (`LEDGER_ROWS` for another number) and reads it as the API does. */
export const ledgerScale: DeepCheck = {
  name: "With 10 million rows in the ledger a tenant's month by day and model takes less than 200 ms, a page of requests less than 50 ms",
  run: async ({ root, env }) => {
    const answer = Answer.parse(
      JSON.parse(await runBenchScript(root, SCRIPT, 'any', { LEDGER_ROWS: env['LEDGER_ROWS'] ?? String(ROWS) })),
    );
    if (typeof answer['skipped'] === 'string') return { skipped: answer['skipped'] };
    const figures = Figures.parse(answer);
    const faults = judgeScale(figures);
    if (faults.length > 0) throw new Error(faults.join('; '));
    const show = (name: string): string =>
      `${name} ${figures[`${name}MsP50`]?.toFixed(1)} / ${figures[`${name}MsMax`]?.toFixed(1)} ms`;
    return `${figures['rows']} rows, ${figures['gigabytes']?.toFixed(1)} GB; median / slowest of 20: ${Object.keys(BOUNDS_MS).map(show).join(', ')}; rollups made anew in ${figures['rebuildS']?.toFixed(0)} s`;
  },
};
