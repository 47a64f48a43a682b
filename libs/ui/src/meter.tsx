export interface MeterProps {
  /** What is measured; read aloud. */
  readonly label: string;
  readonly value: number;
  readonly max: number;
  /** What stands beside the bar, for instance `12 of 200`. */
  readonly text: string;
  /** Shares of `max` from which the bar is hatched as a warning and as bad. */
  readonly warnAt?: number;
  readonly badAt?: number;
}

/**
 * How much of something is used: a bar with its figures in words. A value above `max` fills it; the words tell the
 * truth.
 */
export function Meter({ label, value, max, text, warnAt = 0.8, badAt = 0.95 }: MeterProps) {
  const share = max <= 0 ? 0 : Math.min(1, Math.max(0, value / max));
  const tone = share >= badAt ? 'bad' : share >= warnAt ? 'warn' : '';
  return (
    <span
      className="meter num"
      role="meter"
      aria-label={label}
      aria-valuenow={value}
      aria-valuemin={0}
      aria-valuemax={max}
      aria-valuetext={text}
    >
      <span className="meter-track">
        <span className={`meter-fill ${tone}`} style={{ width: `${share * 100}%` }} />
      </span>
      <span>{text}</span>
    </span>
  );
}
