import { useId, type ReactNode } from 'react';
import { ApiError } from '../api/http.ts';

interface ControlProps {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': true | undefined;
}

export interface FieldProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  /** What the backend said of the form; what concerns `path` or a part of it is shown here. */
  readonly error?: Error | null;
  readonly path?: string;
  /** A fault that is known without asking. */
  readonly fault?: string | undefined;
  readonly children: (props: ControlProps) => ReactNode;
}

/** A labelled control with its hint, and what is wrong with it beside it. */
export function Field({ label, hint, error, path, fault, children }: FieldProps) {
  const id = useId();
  const told = fault ?? (path === undefined ? undefined : faultsAt(error, path).join('; ') || undefined);
  const described = [hint === undefined ? '' : `${id}-hint`, told === undefined ? '' : `${id}-fault`]
    .filter(Boolean)
    .join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        'aria-describedby': described === '' ? undefined : described,
        'aria-invalid': told === undefined ? undefined : true,
      })}
      {hint !== undefined && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {told !== undefined && (
        <p className="fault" id={`${id}-fault`} role="alert">
          {told}
        </p>
      )}
    </div>
  );
}

/** What the backend said of one field and of what lies below it. */
export function faultsAt(error: Error | null | undefined, path: string): string[] {
  if (!(error instanceof ApiError)) return [];
  return error.fields
    .filter((field) => field.path === path || field.path.startsWith(`${path}.`))
    .map(({ message }) => message);
}

/** What the backend said that belongs to none of the fields shown. */
export function FormFault({ error, paths }: { error: Error | null; paths: readonly string[] }) {
  if (error === null) return null;
  const fields = error instanceof ApiError ? error.fields : [];
  const elsewhere = fields.filter(({ path }) => !paths.some((shown) => path === shown || path.startsWith(`${shown}.`)));
  const words = elsewhere
    .map(({ path, message }) => (path === '' ? message : `${path.replaceAll('_', ' ')}: ${message}`))
    .join('; ');
  return (
    <p className="notice bad" role="alert">
      {error.message}
      {words !== '' && ` ${words}`}
    </p>
  );
}
