import { useEffect, useRef, type ReactNode } from 'react';

/**
 * The head of a page: its title, what it is for, and what can be done with all of it. Takes the focus when the
 * person comes here.
 */
export function PageHead({ title, children, actions }: { title: string; children?: ReactNode; actions?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Sluice`;
    // Not at the first load: there the browser begins at the top on its own.
    if (document.activeElement !== null && document.activeElement !== document.body) heading.current?.focus();
  }, [title]);
  return (
    <div className="page-head">
      <div>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {children !== undefined && <p className="muted">{children}</p>}
      </div>
      {actions !== undefined && <div className="page-actions">{actions}</div>}
    </div>
  );
}

/** A titled part of a page. */
export function Panel({
  title,
  note,
  actions,
  children,
  wide = false,
}: {
  title: string;
  note?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  wide?: boolean;
}) {
  return (
    <section className={`panel${wide ? ' wide' : ''}`} aria-label={title}>
      <div className="panel-head">
        <div>
          <h2>{title}</h2>
          {note !== undefined && <p className="muted">{note}</p>}
        </div>
        {actions}
      </div>
      {children}
    </section>
  );
}

/** One figure with its name, and a second line that puts it into relation. */
export function Figure({ name, children, note }: { name: string; children: ReactNode; note?: ReactNode }) {
  return (
    <div className="figure">
      <dt>{name}</dt>
      <dd className="num">{children}</dd>
      {note !== undefined && <dd className="figure-note muted">{note}</dd>}
    </div>
  );
}
