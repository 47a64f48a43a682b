import { useEffect, useRef, type ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';

/** A secret that is shown this once. Comes into view and takes the focus, because it is gone when the page is left. */
export function OnceSecret({
  title,
  secret,
  children,
  onDone,
}: {
  title: string;
  secret: string;
  children?: ReactNode;
  onDone: () => void;
}) {
  const box = useRef<HTMLElement>(null);
  useEffect(() => box.current?.focus(), [secret]);
  return (
    <section className="notice warn once" ref={box} tabIndex={-1} aria-label={title}>
      <h2>{title}</h2>
      <p>Copy it now: it is shown this once, and nobody can look it up again.</p>
      <p className="secret">
        <code>{secret}</code>
        <CopyButton text={secret} label="Copy it to the clipboard" />
      </p>
      {children}
      <button type="button" className="primary" onClick={onDone}>
        I have stored it
      </button>
    </section>
  );
}
