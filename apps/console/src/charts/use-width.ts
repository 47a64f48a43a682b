import { useEffect, useRef, useState, type RefObject } from 'react';

/**
 * Width of an element in CSS pixels as it changes, so that a chart's words keep their size; `otherwise` until it is
 * known.
 */
export function useWidth<E extends Element>(otherwise: number): { ref: RefObject<E | null>; width: number } {
  const ref = useRef<E>(null);
  const [width, setWidth] = useState(otherwise);
  useEffect(() => {
    const element = ref.current;
    if (element === null || typeof ResizeObserver === 'undefined') return undefined;
    const observer = new ResizeObserver(([entry]) => {
      const measured = Math.round(entry?.contentRect.width ?? 0);
      if (measured > 0) setWidth(measured);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { ref, width };
}
