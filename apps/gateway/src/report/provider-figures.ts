import type { CallAttempt, Clock, ProviderFigures } from '@sluice/contracts';

/** How each provider answered lately, for the live picture. Exact figures come from the ledger. */
export interface ProviderFiguresKeeper {
  /** Takes one attempt of a call that has ended. */
  record(attempt: Pick<CallAttempt, 'provider' | 'outcome' | 'ttfb_ms'>): void;
  /** The last ten whole seconds and the running one. */
  report(): ProviderFigures[];
}

interface Cell {
  second: number;
  attempts: number;
  failed: number;
  answered: number;
  ttfbSum: number;
  ttfbMax: number;
}

const SECONDS = 10;
/** One more than is reported: the running second. */
const CELLS = SECONDS + 1;
/** Outcomes that say nothing against the provider. */
const NOT_ITS_FAULT: ReadonlySet<CallAttempt['outcome']> = new Set(['ok', 'cancelled', 'caller_error']);

/** A ring of cells for each provider, so that nothing is allocated once a provider is known. */
export function createProviderFigures({ clock }: { clock: Pick<Clock, 'monotonic'> }): ProviderFiguresKeeper {
  const rings = new Map<string, Cell[]>();
  const thisSecond = (): number => Math.floor(clock.monotonic() / 1000);

  function cellOf(provider: string): Cell {
    let ring = rings.get(provider);
    if (ring === undefined) {
      ring = Array.from({ length: CELLS }, () => ({
        second: -Infinity,
        attempts: 0,
        failed: 0,
        answered: 0,
        ttfbSum: 0,
        ttfbMax: 0,
      }));
      rings.set(provider, ring);
    }
    const second = thisSecond();
    const cell = ring[second % CELLS] as Cell;
    if (cell.second !== second) {
      cell.second = second;
      cell.attempts = cell.failed = cell.answered = cell.ttfbSum = cell.ttfbMax = 0;
    }
    return cell;
  }

  return {
    record({ provider, outcome, ttfb_ms }) {
      const cell = cellOf(provider);
      cell.attempts += 1;
      if (!NOT_ITS_FAULT.has(outcome)) cell.failed += 1;
      if (ttfb_ms === undefined) return;
      cell.answered += 1;
      cell.ttfbSum += ttfb_ms;
      if (ttfb_ms > cell.ttfbMax) cell.ttfbMax = ttfb_ms;
    },
    report() {
      const oldest = thisSecond() - SECONDS;
      return [...rings].map(([provider, ring]) => {
        const sum = { provider, attempts: 0, failed: 0, answered: 0, ttfb_ms_mean: 0, ttfb_ms_max: 0 };
        let ttfbSum = 0;
        for (const cell of ring) {
          if (cell.second < oldest) continue;
          sum.attempts += cell.attempts;
          sum.failed += cell.failed;
          sum.answered += cell.answered;
          ttfbSum += cell.ttfbSum;
          sum.ttfb_ms_max = Math.max(sum.ttfb_ms_max, cell.ttfbMax);
        }
        sum.ttfb_ms_mean = sum.answered === 0 ? 0 : ttfbSum / sum.answered;
        return sum;
      });
    },
  };
}
