import { useId, useState, type ReactNode } from 'react';
import { ApiError, type Versioned } from '../api/call.ts';
import { setAt, valueAt } from './document-paths.ts';
import { NumberInput } from './document-fields.tsx';
import { faultsOfFields, type FormField } from './form-fields.ts';
import { parseDocument, showDocument } from './parse-document.ts';
import { RowForm } from './row-form.tsx';
import { useRowEdit } from './use-row-edit.ts';

export interface FieldGroup {
  readonly legend: string;
  readonly fields: readonly FormField[];
  /** Below the fields. */
  readonly foot?: (document: unknown, change: (next: unknown) => void) => ReactNode;
}

export interface DocumentFormProps<T> {
  readonly label: string;
  /** The row that is changed; a new one when absent. */
  readonly row: Versioned<T> | undefined;
  /** What a new one begins with. */
  readonly start?: unknown;
  /** The fields of a document as it is now. */
  readonly groups: (document: unknown, isNew: boolean) => readonly FieldGroup[];
  /** What is edited of a row; all of it when absent. */
  readonly read?: (value: T) => unknown;
  /** A document as a conflict shows it, where something of it is not to be shown. */
  readonly shownOf?: (document: unknown) => unknown;
  readonly save: (document: unknown, version: number | 'new') => Promise<void>;
  readonly reload: () => Promise<Versioned<T>>;
  readonly onDone: (document: unknown) => void;
  readonly onCancel: () => void;
  readonly verb: string;
  readonly note?: ReactNode;
  /** Said when a new one's name is taken. */
  readonly taken: (document: unknown) => string;
}

/**
 * Makes or changes a row of the configuration by fields; all of it, also what has no field, can be edited as JSON
 * below.
 */
export function DocumentForm<T>({
  label,
  row,
  start,
  groups,
  read = (value) => value,
  shownOf = (document) => document,
  save,
  reload,
  onDone,
  onCancel,
  verb,
  note,
  taken,
}: DocumentFormProps<T>) {
  const edit = useRowEdit<T, unknown>({
    row,
    draftOf: (value) => (value === undefined ? start : read(value)),
    valueOf: (draft) => draft,
    shownOf,
    save,
    reload,
    onSaved: onDone,
    whole: true,
    taken,
  });
  const [broken, setBroken] = useState(false);
  const shown = groups(edit.draft, edit.isNew);
  const faults = faultsOfFields(
    edit.error instanceof ApiError ? edit.error.fields : [],
    shown.flatMap(({ fields }) => fields),
  );
  return (
    <RowForm label={label} edit={edit} verb={verb} note={note} told={faults.told} blocked={broken} onCancel={onCancel}>
      {shown.map(({ legend, fields, foot }, index) => (
        <fieldset key={index} className="limit-fields" disabled={broken}>
          <legend className="muted">{legend}</legend>
          {fields.map((field, place) => (
            <Field
              key={field.path.join('.')}
              field={field}
              document={edit.draft}
              faults={faults.of(field)}
              change={edit.change}
              first={index === 0 && place === 0}
            />
          ))}
          {foot?.(edit.draft, edit.change)}
        </fieldset>
      ))}
      <AsJson document={edit.draft} change={edit.change} onBroken={setBroken} />
    </RowForm>
  );
}

function Field({
  field,
  document,
  faults,
  change,
  first,
}: {
  field: FormField;
  document: unknown;
  faults: readonly string[];
  change: (next: unknown) => void;
  first: boolean;
}) {
  const id = useId();
  const {
    label,
    hint,
    path,
    placeholder,
    choices,
    scale,
    suggestions,
    required = false,
    secret = false,
    write = (whole, value) => setAt(whole, path, value),
  } = field;
  const value = valueAt(document, path);
  const told = faults.length > 0;
  const described =
    [hint === undefined ? '' : `${id}-hint`, told ? `${id}-fault` : ''].filter((one) => one !== '').join(' ') ||
    undefined;
  const props = { id, required, 'aria-describedby': described, 'aria-invalid': told || undefined, autoFocus: first };
  const put = (next: unknown): void => change(write(document, next));
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {choices !== undefined ? (
        <select
          {...props}
          value={String(value ?? '')}
          onChange={(event) => put(choices.find((choice) => String(choice.value ?? '') === event.target.value)?.value)}
        >
          {choices.every((choice) => String(choice.value ?? '') !== String(value ?? '')) && (
            <option value={String(value ?? '')}>{value === undefined ? 'choose…' : String(value)}</option>
          )}
          {choices.map((choice) => (
            <option key={String(choice.value ?? '')} value={String(choice.value ?? '')}>
              {choice.word}
            </option>
          ))}
        </select>
      ) : scale !== undefined ? (
        <NumberInput {...props} value={value} scale={scale} placeholder={placeholder} onChange={put} />
      ) : (
        <input
          {...props}
          type={secret ? 'password' : 'text'}
          autoComplete={secret ? 'new-password' : 'off'}
          spellCheck={false}
          placeholder={placeholder}
          list={suggestions === undefined ? undefined : `${id}-list`}
          value={String(value ?? '')}
          onChange={(event) => put(event.target.value === '' ? undefined : event.target.value)}
        />
      )}
      {suggestions !== undefined && (
        <datalist id={`${id}-list`}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
      {hint !== undefined && (
        <span id={`${id}-hint`} className="muted small">
          {hint}
        </span>
      )}
      {told && (
        <span id={`${id}-fault`} className="field-problem" role="alert">
          {faults.join('; ')}
        </span>
      )}
    </div>
  );
}

/**
 * The whole document as text. Fields follow it, and rest while it is no JSON: a change of theirs would drop what is
 * typed.
 */
function AsJson({
  document,
  change,
  onBroken,
}: {
  document: unknown;
  change: (next: unknown) => void;
  onBroken: (broken: boolean) => void;
}) {
  const id = useId();
  const [typed, setTyped] = useState<string>();
  const parsed = typed === undefined ? undefined : parseDocument(typed);
  // What was typed stays as it is while it means the same.
  const own =
    typed !== undefined &&
    parsed !== undefined &&
    ('problem' in parsed || showDocument(parsed.value) === showDocument(document));
  const text = own ? typed : showDocument(document);
  return (
    <details>
      <summary>All of it, as JSON</summary>
      <textarea
        id={id}
        aria-label="All of it, as JSON"
        className="mono"
        spellCheck={false}
        rows={Math.min(24, Math.max(6, text.split('\n').length))}
        value={text}
        aria-invalid={own && 'problem' in parsed}
        onChange={(event) => {
          setTyped(event.target.value);
          const next = parseDocument(event.target.value);
          onBroken('problem' in next);
          if (!('problem' in next)) change(next.value);
        }}
      />
      {own && 'problem' in parsed && <p className="field-problem">{parsed.problem}</p>}
    </details>
  );
}
