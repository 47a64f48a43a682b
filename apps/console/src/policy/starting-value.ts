import type { Control } from './policy-fields.ts';

/**
 * What a field holds when the workspace begins to say it by itself: the plan's value, or one to begin with where
 * the plan has none.
 */
export function startingValue(control: Control, planValue: unknown): unknown {
  if (planValue !== undefined) return structuredClone(planValue);
  switch (control.kind) {
    case 'number':
      return control.min;
    case 'switch':
      return false;
    case 'choice':
      return control.options[0]?.[0];
    case 'requests':
      return { perSecond: 10, burst: 20 };
    case 'tokens':
      return { perMinute: 100_000 };
    case 'concurrency':
      return { inFlight: 10, queued: 5 };
    case 'downgrade':
      return { atPercent: 90, model: '' };
    case 'unknown-price':
      return { mode: 'refuse' };
    case 'aliases':
    case 'features':
      return {};
    case 'chain':
      return [{ provider: '' }];
    case 'names':
    case 'quotas':
    case 'triggers':
      return [];
  }
}
