import type { CustomerPolicy, QuotaWindow } from '@sluice/contracts';
import { formatCount } from '@sluice/ui';
import { dollars } from '../parts/money.tsx';
import { amountOf } from '../overview/limits-in-words.ts';
import type { PolicyField } from './policy-fields.ts';

type Policy = CustomerPolicy;

/** A value of the policy in words. */
export function valueInWords(
  { control, absent = 'none' }: Pick<PolicyField, 'control' | 'absent'>,
  value: unknown,
): string {
  if (value === undefined || value === null) return absent;
  switch (control.kind) {
    case 'number':
      return numberInWords(Number(value), control.unit);
    case 'switch':
      return value === true ? control.on : control.off;
    case 'choice':
      return control.options.find(([option]) => option === value)?.[1] ?? String(value);
    case 'names':
      return listed(value as readonly string[]);
    case 'requests':
      return requestsInWords(value as NonNullable<Policy['limits']['requests']>);
    case 'tokens': {
      const { perMinute, burst } = value as NonNullable<Policy['limits']['tokens']>;
      return `${formatCount(perMinute)} a minute${burst === undefined ? '' : `, ${formatCount(burst)} at once`}`;
    }
    case 'concurrency': {
      const { inFlight, queued } = value as NonNullable<Policy['limits']['concurrency']>;
      return `${formatCount(inFlight)} in progress, of which ${formatCount(queued)} may wait`;
    }
    case 'quotas':
      return listed((value as readonly QuotaWindow[]).map(quotaInWords), '; ');
    case 'chain':
      return listed(
        (value as Policy['routing']['chain']).map(({ provider, model }) =>
          model === undefined ? provider : `${provider} (${model})`,
        ),
        ', then ',
      );
    case 'triggers':
      return listed(
        (value as readonly string[]).map((trigger) => TRIGGERS.find(([id]) => id === trigger)?.[1] ?? trigger),
      );
    case 'aliases':
      return listed(Object.entries(value as Policy['routing']['aliases']).map(([name, model]) => `${name} → ${model}`));
    case 'features':
      return listed(
        Object.entries(value as Policy['routing']['features']).map(
          ([name, { model, priority }]) => `${name} → ${[model, priority].filter(Boolean).join(', ') || 'as usual'}`,
        ),
      );
    case 'downgrade': {
      const { atPercent, model } = value as NonNullable<Policy['routing']['budgetDowngrade']>;
      return `${model} from ${atPercent} % on`;
    }
    case 'unknown-price': {
      const price = value as Policy['unknownPrice'];
      return price.mode === 'refuse' ? 'are refused' : `cost ${dollars(price.picoUsdPerToken * 1000)} a million tokens`;
    }
  }
}

/** Reasons to go on to the next provider. */
export const TRIGGERS = [
  ['rate_limit', 'it limits calls'],
  ['timeout', 'it is too slow'],
  ['error', 'it fails'],
  ['context_window', 'the call is too long for its model'],
] as const;

const UNITS: Readonly<Record<string, readonly (readonly [size: number, word: string])[]>> = {
  ms: [
    [60_000, 'min'],
    [1000, 's'],
  ],
  s: [
    [86_400, 'days'],
    [3600, 'h'],
    [60, 'min'],
  ],
  bytes: [
    [1024 * 1024, 'MiB'],
    [1024, 'KiB'],
  ],
};

/** A number with its unit, in a larger unit where that is exact: `60,000 ms` is `1 min`. */
function numberInWords(value: number, unit: string): string {
  const [size, word] = UNITS[unit]?.find(([factor]) => value > 0 && value % factor === 0) ?? [1, unit];
  return `${formatCount(value / size)} ${word}`;
}

function requestsInWords({ perSecond, perMinute, burst }: NonNullable<Policy['limits']['requests']>): string {
  const rate = perSecond === undefined ? `${perMinute ?? '?'} a minute` : `${perSecond} a second`;
  return `${rate}, ${formatCount(burst)} at once`;
}

/** `sales: 50,000 tokens a calendar month, then calls are refused`. */
export function quotaInWords({ id, meter, span, limit, mode }: QuotaWindow): string {
  const time = span.kind === 'calendar' ? `a calendar ${span.period}` : `in any ${durationInWords(span.seconds)}`;
  return `${id}: ${amountOf(meter, limit)} ${time}, then ${mode === 'hard' ? 'calls are refused' : 'only a warning'}`;
}

/** Whole seconds in the largest unit that fits: `24 hours`, `90 seconds`. */
export function durationInWords(seconds: number): string {
  const [size, word] =
    seconds % 86_400 === 0
      ? [86_400, 'days']
      : seconds % 3600 === 0
        ? [3600, 'hours']
        : seconds % 60 === 0
          ? [60, 'minutes']
          : [1, 'seconds'];
  return `${seconds / size} ${word}`;
}

function listed(items: readonly string[], between = ', '): string {
  return items.length === 0 ? 'none' : items.join(between);
}
