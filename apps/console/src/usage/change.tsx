import type { ReactNode } from 'react';

/** How a figure compares with the time before: `+12 % (was 400)`. */
export function Change({
  now,
  before,
  show,
}: {
  now: number | null;
  before: number | null;
  show: (value: number) => ReactNode;
}) {
  if (now === null || before === null) return null;
  return (
    <span>
      {changeInWords(now, before)}
      {before > 0 && now !== before && <> · was {show(before)}</>}
    </span>
  );
}

/** `+12 %`, `−3 %`, `as before`, `new`, `nothing before either`. */
export function changeInWords(now: number, before: number): string {
  if (now === before) return before === 0 ? 'none before either' : 'as before';
  if (before === 0) return 'new';
  const percent = ((now - before) / before) * 100;
  const size = Math.abs(percent);
  const text =
    size >= 1000
      ? `${Math.round(size / 100) + (percent > 0 ? 1 : 0)} times`
      : `${size < 10 ? size.toFixed(1) : Math.round(size)} %`;
  return size >= 1000 ? text : `${percent > 0 ? '+' : '−'}${text}`;
}
