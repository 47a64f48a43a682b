import { useState } from 'react';

export interface SureButtonProps {
  /** What it says at first: `Revoke`. */
  readonly verb: string;
  /** What it is done to; part of the name that is read aloud and of the question. */
  readonly name: string;
  readonly onSure: () => void;
  readonly disabled?: boolean | undefined;
  /** Why it may not be pressed. */
  readonly refusal?: string | undefined;
}

/** A button for what cannot be undone: it asks back in its own place, and forgets the question when it is left. */
export function SureButton({ verb, name, onSure, disabled = false, refusal }: SureButtonProps) {
  const [sure, setSure] = useState(false);
  if (!sure) {
    return (
      <button
        type="button"
        disabled={disabled || refusal !== undefined}
        title={refusal}
        aria-label={`${verb} ${name}`}
        onClick={() => setSure(true)}
      >
        {verb}
      </button>
    );
  }
  return (
    <button
      type="button"
      className="danger"
      autoFocus
      onBlur={() => setSure(false)}
      onClick={() => {
        setSure(false);
        onSure();
      }}
    >
      {verb} {name}: sure?
    </button>
  );
}
