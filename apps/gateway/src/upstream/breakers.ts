import type { BreakerReport, Clock, PlannedAttempt } from '@sluice/contracts';
import { createBreaker, type Breaker } from '@sluice/resilience';

/** What to tell when a breaker changes its state. */
export type BreakerListener = (change: { readonly provider: string; readonly model: string; readonly from: string; readonly to: string }) => void;

export interface Breakers {
  of(attempt: PlannedAttempt): Breaker;
  report(): BreakerReport[];
}

/** One breaker per provider and model, made on first use, with the provider's own settings. */
export function createBreakers({ clock, onChange }: { clock: Clock; onChange: BreakerListener }): Breakers {
  const known = new Map<string, { readonly provider: string; readonly model: string; readonly breaker: Breaker; readonly options: object }>();
  return {
    of({ provider, model }) {
      const id = `${provider.id}/${model}`;
      const entry = known.get(id);
      if (entry !== undefined && sameOptions(entry.options, provider.breaker)) return entry.breaker;
      const breaker = createBreaker({
        clock,
        options: provider.breaker,
        onChange: (change) => onChange({ provider: provider.id, model, from: change.from, to: change.to }),
      });
      known.set(id, { provider: provider.id, model, breaker, options: provider.breaker });
      return breaker;
    },
    report() {
      return [...known.values()].map(({ provider, model, breaker }) => {
        const report = breaker.report();
        return {
          provider,
          model,
          state: report.state,
          failure_percent: report.failurePercent,
          calls: report.calls,
          ...(report.retryAtMs === undefined ? {} : { retry_at_ms: report.retryAtMs }),
        };
      });
    },
  };
}

function sameOptions(a: object, b: object): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
