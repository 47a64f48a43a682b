import type { CustomerPolicy } from '@sluice/contracts';
import { formatCount } from '@sluice/ui';
import type { Control } from './policy-fields.ts';

const whole = (value: unknown): boolean => typeof value === 'number' && Number.isInteger(value);

/**
 * What makes a value impossible, in a sentence at once, without asking the backend; undefined when nothing is known
 * against it. The backend checks everything again, and more.
 */
export function faultOf(control: Control, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  switch (control.kind) {
    case 'number': {
      const { min, max = Number.MAX_SAFE_INTEGER } = control;
      if (!whole(value)) return 'Give a whole number.';
      return Number(value) < min || Number(value) > max
        ? `Give a number from ${formatCount(min)} to ${formatCount(max)}.`
        : undefined;
    }
    case 'requests': {
      const { perSecond, perMinute, burst } = value as Partial<NonNullable<CustomerPolicy['limits']['requests']>>;
      const rate = perSecond ?? perMinute;
      if (rate === undefined || !(rate > 0)) return 'The rate must be above 0.';
      return whole(burst) && Number(burst) >= 1 ? undefined : 'At once must be a whole number, at least 1.';
    }
    case 'tokens': {
      const { perMinute, burst } = value as Partial<NonNullable<CustomerPolicy['limits']['tokens']>>;
      if (!whole(perMinute) || Number(perMinute) < 1) return 'Tokens a minute must be a whole number, at least 1.';
      return burst === undefined || (whole(burst) && burst >= 1)
        ? undefined
        : 'At once must be a whole number, at least 1, or empty.';
    }
    case 'concurrency': {
      const { inFlight, queued } = value as Partial<NonNullable<CustomerPolicy['limits']['concurrency']>>;
      if (!whole(inFlight) || Number(inFlight) < 1) return 'In progress must be a whole number, at least 1.';
      if (!whole(queued) || Number(queued) < 0) return 'Waiting must be a whole number, at least 0.';
      return Number(queued) > Number(inFlight)
        ? 'Waiting must not be more than in progress, because those that wait count as in progress.'
        : undefined;
    }
    case 'quotas': {
      const quotas = value as Partial<CustomerPolicy['limits']['quotas'][number]>[];
      if (quotas.some(({ id }) => !/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/.test(id ?? '')))
        return 'Each quota needs a name of letters, digits, dots and hyphens.';
      if (new Set(quotas.map(({ id }) => id)).size < quotas.length) return 'Two quotas have the same name.';
      return quotas.some(({ limit }) => !whole(limit) || Number(limit) < 0)
        ? 'The limit of a quota must be a whole number, at least 0.'
        : undefined;
    }
    case 'chain':
      return (value as { provider?: string }[]).length === 0 ||
        (value as { provider?: string }[]).some(({ provider }) => (provider ?? '') === '')
        ? 'Name at least one provider, and each of them.'
        : undefined;
    case 'downgrade': {
      const { atPercent, model } = value as Partial<NonNullable<CustomerPolicy['routing']['budgetDowngrade']>>;
      if (!whole(atPercent) || Number(atPercent) < 1 || Number(atPercent) > 100)
        return 'The share must be a whole number from 1 to 100.';
      return (model ?? '') === '' ? 'Name a model.' : undefined;
    }
    case 'unknown-price': {
      const price = value as { mode: string; picoUsdPerToken?: number };
      return price.mode === 'charge' && !(whole(price.picoUsdPerToken) && Number(price.picoUsdPerToken) >= 1)
        ? 'Give a price above 0.'
        : undefined;
    }
    default:
      return undefined;
  }
}
