import type { FormEvent, ReactNode } from 'react';
import { ConflictNotice } from './conflict-notice.tsx';
import { Problem } from './problem.tsx';
import type { RowEdit } from './use-row-edit.ts';

export interface RowFormProps {
  readonly label: string;
  readonly edit: Omit<RowEdit<unknown>, 'draft' | 'change'>;
  /** What the button says. */
  readonly verb: string;
  readonly danger?: boolean;
  /** Beside the buttons. */
  readonly note?: ReactNode;
  /** Paths of what is wrong that the fields tell themselves. */
  readonly told?: (path: string) => boolean;
  /** What is typed cannot be sent as it is. */
  readonly blocked?: boolean;
  readonly onCancel: () => void;
  readonly children: ReactNode;
}

/** The frame of a form for one row: its fields, what somebody else changed meanwhile, what was refused, its buttons. */
export function RowForm({
  label,
  edit,
  verb,
  danger = false,
  note,
  told,
  blocked = false,
  onCancel,
  children,
}: RowFormProps) {
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    edit.submit();
  };
  return (
    <form className="editor card" onSubmit={submit} aria-label={label}>
      {children}
      {edit.conflict === undefined ? <Problem error={edit.error} told={told} /> : <ConflictNotice {...edit.conflict} />}
      <div className="inline">
        <button
          type="submit"
          className={danger ? 'danger' : 'primary'}
          disabled={edit.busy || blocked || edit.conflict !== undefined}
        >
          {edit.busy ? 'Saving…' : verb}
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        {note !== undefined && <span className="muted small">{note}</span>}
      </div>
    </form>
  );
}
