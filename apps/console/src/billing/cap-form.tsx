import { useState, type FormEvent } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { formatCount } from '@sluice/ui';
import { nanoUsdToDecimal, type BillingView } from '@sluice/contracts';
import { consoleApi } from '../api/console-api.ts';
import { ApiError } from '../api/http.ts';
import { Field } from '../parts/field.tsx';
import { Money } from '../parts/money.tsx';
import { readDollars } from './dollar-text.ts';

/** The customer's own hard cap of overage a month. */
export function CapForm({ slug, data, mayWrite }: { slug: string; data: BillingView; mayWrite: boolean }) {
  const { overage_cap: cap, version } = data;
  const queryClient = useQueryClient();
  const [text, setText] = useState(cap.nanousd === null ? '' : nanoUsdToDecimal(cap.nanousd));
  const [tried, setTried] = useState(false);
  const amount = readDollars(text);
  const save = useMutation({
    mutationFn: (nano: number | null) => consoleApi.saveBilling(slug, { overage_cap_nanousd: nano }, version),
    onSuccess: (view) => queryClient.setQueryData(['billing', slug], view),
  });
  const overtaken = save.error instanceof ApiError && save.error.status === 412;

  function submit(event: FormEvent): void {
    event.preventDefault();
    setTried(true);
    if (typeof amount === 'number') save.mutate(amount);
  }

  return (
    <form className="stack" onSubmit={submit}>
      <p>
        {cap.nanousd === null ? (
          'There is no cap.'
        ) : (
          <>
            The cap is{' '}
            <strong>
              <Money nano={cap.nanousd} />
            </strong>
            , {cap.source === 'customer' ? 'set by you' : 'as the plan has it'}.
          </>
        )}
        {cap.refuses_at_tokens !== null && (
          <span className="muted num">
            {' '}
            Calls are refused from {formatCount(cap.refuses_at_tokens)} tokens in the month on.
          </span>
        )}
      </p>
      {!mayWrite && (
        <p className="muted">
          To change it you need the permission <code>billing:write</code> (finance or admin).
        </p>
      )}
      {mayWrite && !cap.editable && <p className="muted">Your plan does not let you change it.</p>}
      {mayWrite && cap.editable && (
        <>
          <Field
            label="New cap, dollars a month"
            error={save.error}
            path="overage_cap_nanousd"
            fault={tried && typeof amount === 'string' ? amount : undefined}
          >
            {(props) => (
              <input
                {...props}
                className="amount"
                inputMode="decimal"
                value={text}
                onChange={(e) => setText(e.target.value)}
              />
            )}
          </Field>
          {save.isError && !overtaken && (
            <p className="notice bad" role="alert">
              {save.error.message}
            </p>
          )}
          {overtaken && (
            <p className="notice warn" role="alert">
              Somebody changed the cap while you were here.{' '}
              <button type="button" onClick={() => void queryClient.invalidateQueries({ queryKey: ['billing', slug] })}>
                Show the current one
              </button>
            </p>
          )}
          <div className="actions">
            <button className="primary" disabled={save.isPending}>
              {save.isPending ? 'Saving …' : 'Save cap'}
            </button>
            {cap.source === 'customer' && (
              <button type="button" disabled={save.isPending} onClick={() => save.mutate(null)}>
                Go back to the plan’s
              </button>
            )}
          </div>
        </>
      )}
      {save.isSuccess && <p role="status">Saved. Every gateway knows it within seconds.</p>}
    </form>
  );
}
