import { useMutation } from '@tanstack/react-query';
import { useId, useState, type FormEvent } from 'react';
import { ApiError } from '../api/call.ts';
import { parseDocument, showDocument } from './parse-document.ts';
import { Problem } from './problem.tsx';

export interface NewDocumentProps {
  /** What is made: `plan`. */
  readonly noun: string;
  /** Rows that it can be made like, by id; at least one. */
  readonly like: Readonly<Record<string, unknown>>;
  readonly save: (id: string, value: unknown) => Promise<void>;
  readonly onMade: (id: string) => void;
  readonly onCancel: () => void;
}

/** Makes a new row of the configuration: like one that is there, then changed. */
export function NewDocument({ noun, like, save, onMade, onCancel }: NewDocumentProps) {
  const names = Object.keys(like);
  const [model, setModel] = useState(names[0] ?? '');
  const [id, setId] = useState('');
  const [text, setText] = useState(showDocument(like[model] ?? {}));
  const field = useId();
  const parsed = parseDocument(text);
  const making = useMutation({
    mutationFn: async () => {
      if ('problem' in parsed) throw new Error(parsed.problem);
      try {
        await save(id.trim(), parsed.value);
      } catch (error) {
        if (error instanceof ApiError && error.status === 412)
          throw new ApiError(412, `There is a ${noun} “${id.trim()}” already. Choose another id, or change that one.`);
        throw error;
      }
    },
    onSuccess: () => onMade(id.trim()),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    making.mutate();
  };
  return (
    <form className="editor card" onSubmit={submit} aria-label={`A new ${noun}`}>
      <div className="limit-fields plain">
        <label>
          Id of the new {noun}
          <input value={id} onChange={(event) => setId(event.target.value)} required autoFocus spellCheck={false} />
        </label>
        <label>
          Begin with a copy of
          <select
            value={model}
            onChange={(event) => {
              setModel(event.target.value);
              setText(showDocument(like[event.target.value]));
            }}
          >
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      </div>
      <label htmlFor={field}>The {noun}, as JSON</label>
      <textarea
        id={field}
        className="mono"
        spellCheck={false}
        rows={16}
        value={text}
        aria-invalid={'problem' in parsed}
        onChange={(event) => setText(event.target.value)}
      />
      {'problem' in parsed && <p className="field-problem">{parsed.problem}</p>}
      <Problem error={making.error} />
      <div className="inline">
        <button type="submit" className="primary" disabled={'problem' in parsed || making.isPending}>
          {making.isPending ? 'Saving…' : `Make the ${noun}`}
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
