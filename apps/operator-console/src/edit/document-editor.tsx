import { useMutation } from '@tanstack/react-query';
import { useId, useState, type ReactNode } from 'react';
import { ApiError, type Versioned } from '../api/operator-api.ts';
import { useRefusal } from '../session/role.tsx';
import { compareLines } from './conflict.ts';

export interface DocumentEditorProps<T> {
  readonly label: string;
  readonly loaded: Versioned<T>;
  /** Reads it again, for a conflict. */
  readonly reload: () => Promise<Versioned<T>>;
  readonly save: (value: unknown, version: number) => Promise<void>;
  /** After a save that worked. */
  readonly onSaved: () => void;
  readonly needs: 'operator' | 'admin';
  /** Fields for what is changed most often; they change the same document. */
  readonly fields?: (document: unknown, change: (next: unknown) => void) => ReactNode;
}

const show = (value: unknown): string => JSON.stringify(value, null, 2);

/** Edits a JSON document under a version: who was too late sees both versions and decides. */
export function DocumentEditor<T>({ label, loaded, reload, save, onSaved, needs, fields }: DocumentEditorProps<T>) {
  const [base, setBase] = useState(loaded);
  const [text, setText] = useState(show(loaded.value));
  const [theirs, setTheirs] = useState<Versioned<T>>();
  const area = useId();
  const refusal = useRefusal(needs);
  const parsed = parse(text);
  const saving = useMutation({
    mutationFn: async (version: number) => {
      if ('problem' in parsed) throw new Error(parsed.problem);
      await save(parsed.value, version);
    },
    onSuccess: async () => {
      setTheirs(undefined);
      const now = await reload();
      setBase(now);
      setText(show(now.value));
      onSaved();
    },
    onError: async (error) => {
      if (error instanceof ApiError && error.status === 412) setTheirs(await reload());
    },
  });
  const changed = text !== show(base.value);
  const error = saving.error;
  return (
    <div className="editor">
      {fields !== undefined && !('problem' in parsed) && fields(parsed.value, (next) => setText(show(next)))}
      <label htmlFor={area}>
        {label} <span className="muted num">version {base.version}</span>
      </label>
      <textarea id={area} className="mono" spellCheck={false} rows={Math.min(24, Math.max(6, text.split('\n').length))} value={text} disabled={refusal !== undefined} aria-invalid={'problem' in parsed} onChange={(event) => setText(event.target.value)} />
      {'problem' in parsed && <p className="field-problem">{parsed.problem}</p>}
      {theirs !== undefined && (
        <Conflict
          theirs={theirs}
          base={base}
          mine={text}
          onTheirs={() => {
            setBase(theirs);
            setText(show(theirs.value));
            setTheirs(undefined);
            saving.reset();
          }}
          onMine={() => {
            setBase({ ...base, version: theirs.version });
            saving.mutate(theirs.version);
          }}
        />
      )}
      {error !== null && theirs === undefined && (
        <div className="notice bad" role="alert">
          <p>{error.message}</p>
          {error instanceof ApiError && error.fields.length > 0 && (
            <ul>
              {error.fields.map((field) => (
                <li key={field.path}>
                  <code>{field.path === '' ? 'the document' : field.path}</code> {field.message}
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
      <div className="inline">
        <button type="button" className="primary" disabled={!changed || 'problem' in parsed || saving.isPending || refusal !== undefined || theirs !== undefined} title={refusal} onClick={() => saving.mutate(base.version)}>
          {saving.isPending ? 'Saving…' : 'Save'}
        </button>
        <button
          type="button"
          disabled={!changed || saving.isPending}
          onClick={() => {
            setText(show(base.value));
            setTheirs(undefined);
            saving.reset();
          }}
        >
          Undo my changes
        </button>
        {saving.isSuccess && !changed && (
          <span role="status" className="good-words">
            Saved as version {base.version}. Gateways have it in under a second.
          </span>
        )}
        {refusal !== undefined && <span className="muted">{refusal}</span>}
      </div>
    </div>
  );
}

function Conflict<T>({ theirs, base, mine, onTheirs, onMine }: { theirs: Versioned<T>; base: Versioned<T>; mine: string; onTheirs: () => void; onMine: () => void }) {
  return (
    <div className="notice warn" role="alert">
      <p>
        <strong>Somebody changed this while you did.</strong> You began with version {base.version}; it is at version {theirs.version} now. Nothing of yours was saved. Lines with − are only theirs, with + only yours:
      </p>
      <pre className="compare" tabIndex={0} aria-label="Theirs and mine, line by line">
        {compareLines(show(theirs.value), mine).map((line, index) => (
          <span key={index} className={line.side}>
            {line.side === 'both' ? '  ' : line.side === 'theirs' ? '− ' : '+ '}
            {line.text}
            {'\n'}
          </span>
        ))}
      </pre>
      <div className="inline">
        <button type="button" onClick={onTheirs}>
          Take theirs, drop mine
        </button>
        <button type="button" className="danger" onClick={onMine}>
          Put mine in the place of theirs
        </button>
      </div>
    </div>
  );
}

function parse(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { problem: `This is not JSON: ${(error as Error).message}` };
  }
}
