import type { BreakerReport, Clock, PlannedAttempt, Provider } from '@sluice/contracts';
import { createBreaker, type Breaker, type BreakerChange } from '@sluice/resilience';

export interface ChangedBreaker extends BreakerChange {
  readonly provider: string;
  readonly model: string;
}

/** What to tell when a breaker changes its state. */
export type BreakerListener = (change: ChangedBreaker) => void;

export interface Breakers {
  /** @param version of the configuration that the attempt was planned by; settings of an older one do not come back. */
  of(attempt: Pick<PlannedAttempt, 'provider' | 'model'>, version: number): Breaker;
  report(): BreakerReport[];
}

interface Entry {
  readonly provider: string;
  readonly model: string;
  readonly breaker: Breaker;
  options: Provider['breaker'];
  version: number;
}

/**
 * One breaker per provider and model, made on first use, with the provider's own settings; its state outlives their
 * change.
 */
export function createBreakers({ clock, onChange }: { clock: Clock; onChange: BreakerListener }): Breakers {
  const known = new Map<string, Entry>();
  return {
    of({ provider, model }, version) {
      const id = `${provider.id}/${model}`;
      const entry = known.get(id);
      if (entry !== undefined) {
        if (entry.options !== provider.breaker && version >= entry.version) {
          entry.breaker.configure(provider.breaker);
          entry.options = provider.breaker;
          entry.version = version;
        }
        return entry.breaker;
      }
      const breaker = createBreaker({
        clock,
        options: provider.breaker,
        onChange: (change) => onChange({ provider: provider.id, model, ...change }),
      });
      known.set(id, { provider: provider.id, model, breaker, options: provider.breaker, version });
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
          tenants: report.tenants,
          tenants_open: report.tenantsOpen,
          open_for: [...report.openFor],
        };
      });
    },
  };
}
