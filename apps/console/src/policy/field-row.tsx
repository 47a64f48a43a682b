import { useId } from 'react';
import { Badge } from '@sluice/ui';
import type { PolicyView } from '@sluice/contracts';
import { faultsAt } from '../parts/field.tsx';
import { valueAt } from './override-fields.ts';
import type { PolicyField } from './policy-fields.ts';
import { startingValue } from './starting-value.ts';
import { ValueInput } from './value-input.tsx';
import { valueInWords } from './value-words.ts';

export interface FieldRowProps {
  readonly field: PolicyField;
  readonly rule: PolicyView['fields'][number];
  readonly view: PolicyView;
  /** What the workspace says by itself; undefined where the plan's value holds. */
  readonly own: unknown;
  readonly changed: boolean;
  readonly fault: string | undefined;
  /** What the backend said of the last attempt to save. */
  readonly error: Error | null;
  readonly onChange: (value: unknown) => void;
}

/** One field: its value in words or as a control, and where it comes from. */
export function FieldRow({ field, rule, view, own, changed, fault, error, onChange }: FieldRowProps) {
  const id = useId();
  const { path, title, hint, control } = field;
  const planValue = valueAt(view.plan.policy, path);
  const told = fault ?? (faultsAt(error, path).join('; ') || undefined);
  const overridden = rule.editable ? own !== undefined : rule.source === 'override';
  const shown = rule.editable ? planValue : valueAt(view.effective, path);
  return (
    <div className={`policy-row${changed ? ' changed' : ''}`} role="group" aria-label={title}>
      <div>
        <p className="policy-title">
          {title} {changed && <Badge tone="plain">changed</Badge>}
        </p>
        {hint !== '' && (
          <p className="hint muted" id={`${id}-hint`}>
            {hint}
          </p>
        )}
      </div>
      <div>
        {rule.editable && own !== undefined ? (
          <ValueInput
            title={title}
            control={control}
            value={own}
            onChange={onChange}
            invalid={told !== undefined}
            describedBy={told === undefined ? (hint === '' ? undefined : `${id}-hint`) : `${id}-fault`}
          />
        ) : (
          <p className="policy-value">{valueInWords(field, shown)}</p>
        )}
        {told !== undefined && (
          <p className="fault" id={`${id}-fault`} role="alert">
            {told}
          </p>
        )}
        {rule.note !== null && <p className="hint muted">{rule.note}</p>}
      </div>
      <div className="policy-source">
        {overridden ? (
          <span className="muted">of this workspace; the plan has: {valueInWords(field, planValue)}</span>
        ) : (
          <span className="muted">from the plan</span>
        )}
        {rule.editable &&
          (own === undefined ? (
            <button
              type="button"
              aria-label={`Set ${title} for this workspace`}
              onClick={() => onChange(startingValue(control, planValue))}
            >
              Set
            </button>
          ) : (
            <button type="button" aria-label={`Use the plan’s ${title}`} onClick={() => onChange(undefined)}>
              Use the plan’s
            </button>
          ))}
      </div>
    </div>
  );
}
