import { useState, type ReactNode } from 'react';
import { useMutation } from '@tanstack/react-query';

export interface ConfirmProps {
  /** The first button's word. */
  readonly verb: string;
  /** The first button's full name for screen readers. */
  readonly name: string;
  /** What will happen, in a sentence. */
  readonly warning: ReactNode;
  /** The second button's words: what it does. */
  readonly confirm: string;
  readonly keep?: string;
  /** Not a dangerous thing to do. */
  readonly plain?: boolean;
  readonly act: () => Promise<unknown>;
}

/** A button that asks once more before it does something that cannot be taken back. */
export function Confirm({ verb, name, warning, confirm, keep = 'Keep it', plain = false, act }: ConfirmProps) {
  const [asking, setAsking] = useState(false);
  const action = useMutation({ mutationFn: act, onSuccess: () => setAsking(false) });
  if (!asking)
    return (
      <button type="button" className={plain ? undefined : 'danger'} aria-label={name} onClick={() => setAsking(true)}>
        {verb}
      </button>
    );
  return (
    <span className="confirm">
      {action.isError ? <span role="alert">{action.error.message}</span> : <span>{warning}</span>}
      <button
        type="button"
        className={plain ? 'primary' : 'danger'}
        autoFocus
        disabled={action.isPending}
        onClick={() => action.mutate()}
      >
        {confirm}
      </button>
      <button type="button" disabled={action.isPending} onClick={() => setAsking(false)}>
        {keep}
      </button>
    </span>
  );
}
