import { useState } from 'react';

/** Copies a text; says so, also to screen readers, and says when the browser does not let it. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [state, setState] = useState<'ready' | 'copied' | 'refused'>('ready');
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      setState('copied');
    } catch {
      setState('refused');
    }
  }
  return (
    <>
      <button type="button" aria-label={label} onClick={() => void copy()}>
        {state === 'copied' ? 'Copied' : 'Copy'}
      </button>
      <span role="status" className={state === 'refused' ? 'muted' : 'visually-hidden'}>
        {state === 'copied' && 'Copied to the clipboard.'}
        {state === 'refused' && 'The browser did not allow it: select the text and copy it by hand.'}
      </span>
    </>
  );
}
