import { useEffect, useRef, useState, type ReactNode } from 'react';

/**
 * A place for what may be wider than the window. Only while it is wider does it take the focus, so that the
 * keyboard can move it.
 */
export function ScrollX({ label, children }: { label: string; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const [wider, setWider] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const look = (): void => setWider(element.scrollWidth > element.clientWidth);
    look();
    if (typeof ResizeObserver === 'undefined') return undefined;
    const observer = new ResizeObserver(look);
    observer.observe(element);
    if (element.firstElementChild !== null) observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={box} className="scroll-x" {...(wider ? { tabIndex: 0, role: 'group', 'aria-label': label } : {})}>
      {children}
    </div>
  );
}
