import type { ReactNode } from 'react';
import type { Outcome } from '@sluice/contracts';
import { formatCount } from './format.ts';

/** Counts of one second by outcome. */
export interface BarSecond {
  readonly second: number;
  readonly outcomes: Partial<Record<Outcome, number>>;
}

export interface OutcomeBarsProps {
  /** Whose traffic it is; read aloud. */
  readonly label: string;
  /** Oldest first, no gaps. */
  readonly seconds: readonly BarSecond[];
  /** Top of the scale, calls per second; the same for several charts that are compared. */
  readonly max: number;
  /** A line at this many calls per second: the tenant's limit. */
  readonly limit?: number | undefined;
}

/**
 * The groups of outcomes that are drawn, from the bottom up. Colour is never alone: each has a word, and what is
 * confused most often a hatch.
 */
export const OUTCOME_GROUPS = [
  { id: 'ok', word: 'ok', means: 'answered', outcomes: ['ok'] },
  { id: 'throttled', word: 'throttled', means: 'faster than the rate limit', outcomes: ['throttled'] },
  { id: 'shed', word: 'shed', means: 'more at once than may run or wait', outcomes: ['shed'] },
  { id: 'quota', word: 'quota', means: 'the budget is used up', outcomes: ['quota'] },
  {
    id: 'upstream',
    word: 'upstream',
    means: 'the provider or the gateway failed',
    outcomes: ['upstream_error', 'timeout', 'interrupted', 'internal_error'],
  },
  {
    id: 'other',
    word: 'other',
    means: 'bad requests, bad keys, cancelled calls',
    outcomes: ['client_error', 'unauthenticated', 'cancelled'],
  },
] as const satisfies readonly { id: string; word: string; means: string; outcomes: readonly Outcome[] }[];

export type OutcomeGroupId = (typeof OUTCOME_GROUPS)[number]['id'];

/** Sums a second's outcomes into the groups that are drawn. */
export function groupCounts(outcomes: Partial<Record<Outcome, number>>): Record<OutcomeGroupId, number> {
  const counts = { ok: 0, throttled: 0, shed: 0, quota: 0, upstream: 0, other: 0 };
  for (const group of OUTCOME_GROUPS) {
    for (const outcome of group.outcomes) counts[group.id] += outcomes[outcome] ?? 0;
  }
  return counts;
}

const HEIGHT = 72;
const STEP = 5;
const BAR = 4;
/** Below this share of the scale a limit's line lies on the floor, so its label is moved up. */
const FLOOR_PERCENT = 92;

/** Stacked bars, one a second: what each second's calls became, with both axes and the limit in words. */
export function OutcomeBars({ label, seconds, max, limit }: OutcomeBarsProps) {
  const top = Math.max(1, max);
  const width = Math.max(1, seconds.length) * STEP;
  const y = (value: number): number => HEIGHT - (Math.min(value, top) / top) * HEIGHT;
  return (
    <ChartFrame
      top={`${formatCount(top)}/s`}
      bottom="0"
      left={`${span(seconds.length)} ago`}
      right="now"
      tag={limit === undefined ? undefined : limitTag(limit, top)}
    >
      <svg
        className="bars"
        viewBox={`0 0 ${width} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${describe(seconds)}`}
      >
        <Hatches />
        {seconds.map((second, index) => (
          <Bar key={second.second} x={index * STEP} counts={groupCounts(second.outcomes)} y={y} />
        ))}
        {limit !== undefined && limit <= top && (
          <line className="limit-line" x1="0" x2={width} y1={y(limit)} y2={y(limit)} />
        )}
      </svg>
    </ChartFrame>
  );
}

/** A chart between its axes: the scale at the left, the time below, and a word at a height (percent from the top). */
export function ChartFrame(props: {
  top: string;
  bottom: string;
  left: string;
  right: string;
  tag?: { text: string; percent: number } | undefined;
  children: ReactNode;
}) {
  return (
    <div className="chart num">
      <div className="chart-y" aria-hidden="true">
        <span>{props.top}</span>
        <span>{props.bottom}</span>
      </div>
      <div className="chart-plot">
        {props.children}
        {props.tag !== undefined && (
          <span className="chart-tag" style={{ top: `${props.tag.percent}%` }}>
            {props.tag.text}
          </span>
        )}
      </div>
      <div className="chart-x" aria-hidden="true">
        <span>{props.left}</span>
        <span>{props.right}</span>
      </div>
    </div>
  );
}

/** The limit's word at its line; a limit above the scale has no line. */
function limitTag(limit: number, top: number): { text: string; percent: number } | undefined {
  if (limit > top) return undefined;
  const percent = (1 - limit / top) * 100;
  return { text: `limit ${formatCount(limit)}/s`, percent: percent > FLOOR_PERCENT ? 82 : Math.max(12, percent) };
}

const span = (seconds: number): string =>
  seconds >= 120 && seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;

function Hatches() {
  return (
    <defs>
      <pattern id="hatch-throttled" width="4" height="4" patternUnits="userSpaceOnUse">
        <rect width="4" height="4" className="fill-throttled" />
        <line x1="0" y1="0" x2="4" y2="0" className="hatch" />
      </pattern>
      <pattern id="hatch-shed" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="4" height="4" className="fill-shed" />
        <line x1="0" y1="0" x2="0" y2="4" className="hatch" />
      </pattern>
      <pattern id="hatch-quota" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)">
        <rect width="4" height="4" className="fill-quota" />
        <line x1="0" y1="0" x2="0" y2="4" className="hatch" />
      </pattern>
    </defs>
  );
}

function Bar({ x, counts, y }: { x: number; counts: Record<OutcomeGroupId, number>; y: (value: number) => number }) {
  let base = 0;
  return OUTCOME_GROUPS.map(({ id }) => {
    const count = counts[id];
    if (count === 0) return null;
    const bottom = y(base);
    base += count;
    const height = Math.max(bottom - y(base), 0.5);
    return <rect key={id} className={`fill-${id}`} x={x} width={BAR} y={bottom - height} height={height} />;
  });
}

function describe(seconds: readonly BarSecond[]): string {
  const last = seconds.slice(-10);
  const totals = OUTCOME_GROUPS.map(
    ({ id, word }) => `${last.reduce((sum, second) => sum + groupCounts(second.outcomes)[id], 0)} ${word}`,
  );
  return `in the last ${last.length} seconds ${totals.join(', ')}`;
}

/** The legend of the bars. */
export function OutcomeLegend() {
  return (
    <ul className="legend" aria-label="Colours of the bars">
      {OUTCOME_GROUPS.map(({ id, word, means }) => (
        <li key={id} title={means}>
          <span className={`swatch bg-${id}`} aria-hidden="true" />
          {word}
        </li>
      ))}
    </ul>
  );
}
