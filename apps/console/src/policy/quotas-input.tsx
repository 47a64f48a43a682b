import type { QuotaWindow } from '@sluice/contracts';
import { NumberInput } from './number-input.tsx';

const METERS = [
  ['total_tokens', 'tokens'],
  ['input_tokens', 'input tokens'],
  ['output_tokens', 'output tokens'],
  ['cost_nanousd', 'dollars'],
] as const;

const SPANS: readonly (readonly [id: string, title: string, span: QuotaWindow['span']])[] = [
  ['day', 'a calendar day', { kind: 'calendar', period: 'day' }],
  ['month', 'a calendar month', { kind: 'calendar', period: 'month' }],
  ['3600', 'in any hour', { kind: 'rolling', seconds: 3600, steps: 12 }],
  ['86400', 'in any 24 hours', { kind: 'rolling', seconds: 86_400, steps: 24 }],
  ['604800', 'in any 7 days', { kind: 'rolling', seconds: 604_800, steps: 28 }],
];

const spanId = (span: QuotaWindow['span']): string => (span.kind === 'calendar' ? span.period : String(span.seconds));

/** Quotas as rows: name, how much, of what, in which time, and what happens then. */
export function QuotasInput({
  value,
  onChange,
  invalid,
}: {
  value: readonly QuotaWindow[];
  onChange: (value: QuotaWindow[]) => void;
  invalid: boolean;
}) {
  const set = (index: number, change: Partial<QuotaWindow>): void =>
    onChange(value.map((quota, at) => (at === index ? { ...quota, ...change } : quota)));
  return (
    <ul className="rows">
      {value.map((quota, index) => {
        const money = quota.meter === 'cost_nanousd';
        const scale = money ? 1e9 : 1;
        const name = `Quota ${index + 1}`;
        const known = SPANS.some(([id]) => id === spanId(quota.span));
        return (
          <li key={index} className="row">
            <input
              aria-label={`${name}: name`}
              placeholder="name"
              value={quota.id}
              aria-invalid={invalid || undefined}
              onChange={(e) => set(index, { id: e.target.value })}
            />
            <NumberInput
              label={`${name}: limit`}
              invalid={invalid}
              value={Number.isFinite(quota.limit) ? quota.limit / scale : undefined}
              onChange={(next) => set(index, { limit: next === undefined ? NaN : Math.round(next * scale) })}
            />
            <select
              aria-label={`${name}: of what`}
              value={quota.meter}
              onChange={(e) => set(index, { meter: e.target.value as QuotaWindow['meter'] })}
            >
              {METERS.map(([id, title]) => (
                <option key={id} value={id}>
                  {title}
                </option>
              ))}
            </select>
            <select
              aria-label={`${name}: in which time`}
              value={spanId(quota.span)}
              onChange={(e) => {
                const span = SPANS.find(([id]) => id === e.target.value)?.[2];
                if (span !== undefined) set(index, { span });
              }}
            >
              {!known && (
                <option value={spanId(quota.span)}>
                  {quota.span.kind === 'rolling' ? `in any ${quota.span.seconds} seconds` : quota.span.period}
                </option>
              )}
              {SPANS.map(([id, title]) => (
                <option key={id} value={id}>
                  {title}
                </option>
              ))}
            </select>
            <select
              aria-label={`${name}: and then`}
              value={quota.mode}
              onChange={(e) =>
                set(index, {
                  mode: e.target.value as QuotaWindow['mode'],
                  ...(e.target.value === 'soft' ? { refuseAtPercent: undefined } : {}),
                })
              }
            >
              <option value="hard">then calls are refused</option>
              <option value="soft">then only a warning</option>
            </select>
            <button
              type="button"
              aria-label={`Remove ${name.toLowerCase()}`}
              onClick={() => onChange(value.filter((_, at) => at !== index))}
            >
              Remove
            </button>
          </li>
        );
      })}
      {value.length < 16 && (
        <li>
          <button
            type="button"
            onClick={() =>
              onChange([
                ...value,
                {
                  id: freeName(value),
                  meter: 'total_tokens',
                  span: { kind: 'calendar', period: 'day' },
                  limit: 1_000_000,
                  mode: 'hard',
                  alertAtPercent: [80, 100],
                },
              ])
            }
          >
            Add a quota
          </button>
        </li>
      )}
    </ul>
  );
}

function freeName(quotas: readonly QuotaWindow[]): string {
  let n = 1;
  while (quotas.some(({ id }) => id === `quota-${n}`)) n += 1;
  return `quota-${n}`;
}
