import type { CustomerPolicy } from '@sluice/contracts';
import type { Control } from './policy-fields.ts';
import { AliasesInput, ChainInput, FeaturesInput, NamesInput } from './list-inputs.tsx';
import { NumberInput } from './number-input.tsx';
import { QuotasInput } from './quotas-input.tsx';
import { TRIGGERS } from './value-words.ts';

export interface ValueInputProps {
  /** Names the control for screen readers. */
  readonly title: string;
  readonly control: Control;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly invalid: boolean;
  readonly describedBy: string | undefined;
}

/** The control that fits a field of the policy. */
export function ValueInput({ title, control, value, onChange, invalid, describedBy }: ValueInputProps) {
  const marks = { 'aria-invalid': invalid || undefined, 'aria-describedby': describedBy } as const;
  switch (control.kind) {
    case 'number':
      // Nothing is kept as null, so that an empty field is told apart from one that follows the plan.
      return (
        <NumberInput
          label={title}
          unit={control.unit}
          value={(value as number | null) ?? undefined}
          invalid={invalid}
          describedBy={describedBy}
          onChange={(next) => onChange(next ?? null)}
        />
      );
    case 'switch':
      return (
        <select
          aria-label={title}
          {...marks}
          value={String(value === true)}
          onChange={(e) => onChange(e.target.value === 'true')}
        >
          <option value="true">{control.on}</option>
          <option value="false">{control.off}</option>
        </select>
      );
    case 'choice':
      return (
        <select
          aria-label={title}
          {...marks}
          value={String(value)}
          onChange={(e) => onChange(control.options.find(([option]) => String(option) === e.target.value)?.[0])}
        >
          {control.options.map(([option, words]) => (
            <option key={option} value={option}>
              {words}
            </option>
          ))}
        </select>
      );
    case 'names':
      return (
        <NamesInput
          title={title}
          placeholder={control.placeholder}
          value={value as string[]}
          onChange={onChange}
          marks={marks}
        />
      );
    case 'requests':
      return <RequestsInput value={value as Requests} onChange={onChange} invalid={invalid} />;
    case 'tokens': {
      const { perMinute, burst } = value as NonNullable<CustomerPolicy['limits']['tokens']>;
      return (
        <div className="row">
          <NumberInput
            label="Tokens a minute"
            unit="a minute"
            invalid={invalid}
            value={perMinute}
            onChange={(next) => onChange({ ...(value as object), perMinute: next })}
          />
          <NumberInput
            label="Tokens at once"
            unit="at once (one minute’s worth when empty)"
            invalid={invalid}
            value={burst}
            onChange={(next) => onChange({ ...(value as object), burst: next })}
          />
        </div>
      );
    }
    case 'concurrency': {
      const { inFlight, queued } = value as NonNullable<CustomerPolicy['limits']['concurrency']>;
      return (
        <div className="row">
          <NumberInput
            label="Requests in progress"
            unit="in progress"
            invalid={invalid}
            value={inFlight}
            onChange={(next) => onChange({ ...(value as object), inFlight: next })}
          />
          <NumberInput
            label="Of which may wait"
            unit="of which may wait"
            invalid={invalid}
            value={queued}
            onChange={(next) => onChange({ ...(value as object), queued: next })}
          />
        </div>
      );
    }
    case 'quotas':
      return <QuotasInput value={value as CustomerPolicy['limits']['quotas']} onChange={onChange} invalid={invalid} />;
    case 'chain':
      return <ChainInput value={value as CustomerPolicy['routing']['chain']} onChange={onChange} />;
    case 'aliases':
      return <AliasesInput value={value as Record<string, string>} onChange={onChange} />;
    case 'features':
      return <FeaturesInput value={value as CustomerPolicy['routing']['features']} onChange={onChange} />;
    case 'triggers': {
      const chosen = value as readonly string[];
      return (
        <div className="checks" role="group" aria-label={title}>
          {TRIGGERS.map(([id, words]) => (
            <label key={id} className="check">
              <input
                type="checkbox"
                checked={chosen.includes(id)}
                onChange={(e) =>
                  onChange(
                    TRIGGERS.map(([trigger]) => trigger as string).filter((trigger) =>
                      trigger === id ? e.target.checked : chosen.includes(trigger),
                    ),
                  )
                }
              />
              {words}
            </label>
          ))}
        </div>
      );
    }
    case 'downgrade': {
      const { atPercent, model } = value as { atPercent?: number; model?: string };
      return (
        <div className="row">
          <NumberInput
            label="From this share on, percent"
            unit="% used, then"
            invalid={invalid}
            value={atPercent}
            onChange={(next) => onChange({ atPercent: next, model })}
          />
          <input
            aria-label="Model to use then"
            value={model ?? ''}
            placeholder="sim-small"
            onChange={(e) => onChange({ atPercent, model: e.target.value })}
          />
        </div>
      );
    }
    case 'unknown-price':
      return (
        <UnknownPriceInput
          title={title}
          value={value as CustomerPolicy['unknownPrice']}
          onChange={onChange}
          invalid={invalid}
        />
      );
  }
}

interface Requests {
  readonly perSecond?: number | undefined;
  readonly perMinute?: number | undefined;
  readonly burst?: number | undefined;
}

function RequestsInput({
  value,
  onChange,
  invalid,
}: {
  value: Requests;
  onChange: (value: Requests) => void;
  invalid: boolean;
}) {
  const unit = 'perMinute' in value && value.perMinute !== undefined ? 'perMinute' : 'perSecond';
  const rate = value[unit];
  const withRate = (key: 'perSecond' | 'perMinute', next: number | undefined): Requests => ({
    [key]: next,
    burst: value.burst,
  });
  return (
    <div className="row">
      <NumberInput
        label="How many requests"
        invalid={invalid}
        value={rate}
        onChange={(next) => onChange(withRate(unit, next))}
      />
      <select
        aria-label="Per"
        value={unit}
        onChange={(e) => onChange(withRate(e.target.value as 'perSecond' | 'perMinute', rate ?? 1))}
      >
        <option value="perSecond">a second</option>
        <option value="perMinute">a minute</option>
      </select>
      <NumberInput
        label="Requests at once"
        unit="at once"
        invalid={invalid}
        value={value.burst}
        onChange={(next) => onChange({ ...value, burst: next })}
      />
    </div>
  );
}

function UnknownPriceInput({
  title,
  value,
  onChange,
  invalid,
}: {
  title: string;
  value: CustomerPolicy['unknownPrice'];
  onChange: (value: unknown) => void;
  invalid: boolean;
}) {
  return (
    <div className="row">
      <select
        aria-label={title}
        value={value.mode}
        onChange={(e) =>
          onChange(e.target.value === 'refuse' ? { mode: 'refuse' } : { mode: 'charge', picoUsdPerToken: 10_000_000 })
        }
      >
        <option value="refuse">are refused</option>
        <option value="charge">cost as much as this</option>
      </select>
      {value.mode === 'charge' && (
        <NumberInput
          label="Dollars a million tokens"
          unit="dollars a million tokens"
          invalid={invalid}
          value={Number.isFinite(value.picoUsdPerToken) ? value.picoUsdPerToken / 1e6 : undefined}
          onChange={(next) =>
            onChange({ mode: 'charge', picoUsdPerToken: next === undefined ? undefined : Math.round(next * 1e6) })
          }
        />
      )}
    </div>
  );
}
