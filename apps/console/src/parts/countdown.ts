import { useEffect, useState } from 'react';

/**
 * Whole seconds left of a wait that was told at `toldAtMs` (Unix time); 0 when there is none or it is over.
 * A fraction counts as a whole second, so that 0 is never shown too early.
 */
export function useCountdown(seconds: number | undefined, toldAtMs: number): number {
  const endsMs = seconds === undefined ? 0 : toldAtMs + seconds * 1000;
  const [nowMs, setNowMs] = useState(() => Date.now());
  const over = nowMs >= endsMs;
  useEffect(() => {
    if (over && Date.now() >= endsMs) return undefined;
    const timer = setInterval(() => setNowMs(Date.now()), 250);
    return () => clearInterval(timer);
  }, [endsMs, over]);
  return Math.max(0, Math.ceil((endsMs - Math.max(nowMs, toldAtMs)) / 1000));
}

/** `40 seconds`, `3 min 5 s`, `2 h 10 min`. */
export function waitInWords(seconds: number): string {
  if (seconds < 60) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86_400)} days`;
}
