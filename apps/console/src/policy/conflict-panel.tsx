import type { Ref } from 'react';
import type { MergeState } from './editor-state.ts';
import { FIELDS } from './policy-fields.ts';
import { valueInWords } from './value-words.ts';

/** Both versions of what two people changed at the same time, side by side, with a choice for each field. */
export function ConflictPanel({
  ref,
  merge,
  onDecide,
}: {
  ref: Ref<HTMLElement>;
  merge: MergeState;
  onDecide: (path: string, side: 'mine' | 'theirs') => void;
}) {
  const { conflicts, decided, taken } = merge;
  return (
    <section ref={ref} tabIndex={-1} className="notice warn conflict" aria-label="Two versions of this policy">
      <h2>Somebody else saved this policy while you were editing</h2>
      {conflicts.length === 0 ? (
        <p>You changed different fields, so both fit together. Look it over and save.</p>
      ) : (
        <p>
          You both changed {conflicts.length === 1 ? 'one field' : `${conflicts.length} fields`}. Choose for each which
          one shall hold; nothing is saved before.
        </p>
      )}
      {conflicts.map(({ path, before, mine, theirs }) => {
        const field = FIELDS.get(path);
        if (field === undefined) return null;
        const words = (value: unknown): string =>
          value === undefined ? 'as the plan has it' : valueInWords(field, value);
        return (
          <fieldset key={path}>
            <legend>{field.title}</legend>
            <div className="versions">
              {(
                [
                  ['mine', 'Yours', mine],
                  ['theirs', 'Theirs', theirs],
                ] as const
              ).map(([side, title, value]) => (
                <label key={side} className="version">
                  <input
                    type="radio"
                    name={path}
                    checked={decided[path] === side}
                    onChange={() => onDecide(path, side)}
                  />
                  <span>
                    <strong>{title}</strong> {words(value)}
                  </span>
                </label>
              ))}
            </div>
            <p className="muted">Before, it was: {words(before)}</p>
          </fieldset>
        );
      })}
      {taken.length > 0 && (
        <p>Taken over from them: {taken.map((path) => FIELDS.get(path)?.title ?? path).join(', ')}.</p>
      )}
    </section>
  );
}
