import { useMutation } from '@tanstack/react-query';
import { useId, useState, type ReactNode } from 'react';
import { ApiError, type Versioned } from '../api/call.ts';
import { useRefusal } from '../session/role.tsx';
import { ConflictNotice } from './conflict-notice.tsx';
import { parseDocument, showDocument } from './parse-document.ts';
import { Problem } from './problem.tsx';

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

/** Edits a JSON document under a version: who was too late sees both versions and decides. */
export function DocumentEditor<T>({ label, loaded, reload, save, onSaved, needs, fields }: DocumentEditorProps<T>) {
  const [base, setBase] = useState(loaded);
  const [text, setText] = useState(showDocument(loaded.value));
  const [theirs, setTheirs] = useState<Versioned<T>>();
  const area = useId();
  const refusal = useRefusal(needs);
  const parsed = parseDocument(text);
  const changed = text !== showDocument(base.value);
  // The row went on, by another editor of this page for instance: whoever has typed nothing here just follows.
  if (loaded.version > base.version && !changed && theirs === undefined) {
    setBase(loaded);
    setText(showDocument(loaded.value));
  }
  const saving = useMutation({
    mutationFn: async (version: number) => {
      if ('problem' in parsed) throw new Error(parsed.problem);
      try {
        await save(parsed.value, version);
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 412) throw error;
        const now = await reload();
        // What this editor shows of the row is as it was: nobody's change is in the way.
        if (now.version !== version && showDocument(now.value) === showDocument(base.value))
          return save(parsed.value, now.version);
        setTheirs(now);
        throw error;
      }
    },
    onSuccess: async () => {
      setTheirs(undefined);
      const now = await reload();
      setBase(now);
      setText(showDocument(now.value));
      onSaved();
    },
  });
  return (
    <div className="editor">
      {fields !== undefined && !('problem' in parsed) && fields(parsed.value, (next) => setText(showDocument(next)))}
      <label htmlFor={area}>
        {label} <span className="muted num">version {base.version}</span>
      </label>
      <textarea
        id={area}
        className="mono"
        spellCheck={false}
        rows={Math.min(24, Math.max(6, text.split('\n').length))}
        value={text}
        disabled={refusal !== undefined}
        aria-invalid={'problem' in parsed}
        onChange={(event) => setText(event.target.value)}
      />
      {'problem' in parsed && <p className="field-problem">{parsed.problem}</p>}
      {theirs !== undefined && (
        <ConflictNotice
          began={base.version}
          now={theirs.version}
          theirs={showDocument(theirs.value)}
          mine={text}
          onTheirs={() => {
            setBase(theirs);
            setText(showDocument(theirs.value));
            setTheirs(undefined);
            saving.reset();
          }}
          onMine={() => {
            setBase({ ...base, version: theirs.version });
            saving.mutate(theirs.version);
          }}
        />
      )}
      {theirs === undefined && <Problem error={saving.error} />}
      <div className="inline">
        <button
          type="button"
          className="primary"
          disabled={
            !changed || 'problem' in parsed || saving.isPending || refusal !== undefined || theirs !== undefined
          }
          title={refusal}
          onClick={() => saving.mutate(base.version)}
        >
          {saving.isPending ? 'Saving…' : 'Save'}
        </button>
        <button
          type="button"
          disabled={!changed || saving.isPending}
          onClick={() => {
            setText(showDocument(base.value));
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
