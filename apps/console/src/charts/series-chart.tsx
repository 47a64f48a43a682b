import { useState, type PointerEvent } from 'react';
import { inUtc } from '../parts/instant.tsx';
import { niceTop } from './scale.ts';
import { useWidth } from './use-width.ts';

export interface TimedSeries {
  readonly name: string;
  /** Oldest first, at any distances; null where nothing was measured. */
  readonly points: readonly { readonly at: string; readonly value: number | null }[];
}

export interface SeriesChartProps {
  /** What is drawn, for screen readers and the table: `Calls per minute`. */
  readonly label: string;
  readonly from: string;
  readonly to: string;
  /** At most six. */
  readonly series: readonly TimedSeries[];
  readonly format: (value: number) => string;
}

const USUAL_WIDTH = 720;
const HEIGHT = 180;
const LEFT = 56;
const TOP = 8;
const BOTTOM = 22;
const plotHeight = HEIGHT - TOP - BOTTOM;
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const MOMENT = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
});

/** Lines over time in the person's zone; gaps stay gaps. */
export function SeriesChart(props: SeriesChartProps) {
  const { label, from, to, series, format } = props;
  const { ref, width } = useWidth<HTMLDivElement>(USUAL_WIDTH);
  const [atMs, setAtMs] = useState<number>();
  const plotWidth = width - LEFT;
  const fromMs = Date.parse(from);
  const spanMs = Math.max(1, Date.parse(to) - fromMs);
  const top = niceTop(Math.max(0, ...series.flatMap(({ points }) => points.map(({ value }) => value ?? 0))));
  const x = (ms: number): number => LEFT + ((ms - fromMs) / spanMs) * plotWidth;
  const y = (value: number): number => TOP + plotHeight - (value / top) * plotHeight;
  const words = spanMs > 36 * 3_600_000 ? MOMENT : CLOCK;

  function point(event: PointerEvent<SVGSVGElement>): void {
    const box = event.currentTarget.getBoundingClientRect();
    const share = (((event.clientX - box.left) / box.width) * width - LEFT) / plotWidth;
    setAtMs(share >= 0 && share <= 1 ? fromMs + share * spanMs : undefined);
  }

  return (
    <div>
      <div className="chart-box" ref={ref}>
        <svg
          className="time-chart"
          viewBox={`0 0 ${width} ${HEIGHT}`}
          role="img"
          aria-label={`${label}. ${summary(props)} The figures are in the table below.`}
          onPointerMove={point}
          onPointerLeave={() => setAtMs(undefined)}
        >
          {[0, 0.5, 1].map((share) => (
            <g key={share}>
              <line className="grid" x1={LEFT} x2={width} y1={y(top * share)} y2={y(top * share)} />
              <text x={LEFT - 8} y={y(top * share) + 4} textAnchor="end">
                {format(top * share)}
              </text>
            </g>
          ))}
          {(plotWidth < 420 ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1]).map((share) => (
            <text
              key={share}
              x={LEFT + plotWidth * share}
              y={HEIGHT - 6}
              textAnchor={share === 0 ? 'start' : share === 1 ? 'end' : 'middle'}
            >
              {words.format(fromMs + spanMs * share)}
            </text>
          ))}
          {series.map(({ name, points }, index) => (
            <Runs key={name} index={index} points={points} x={x} y={y} />
          ))}
          {atMs !== undefined && <line className="cursor" x1={x(atMs)} x2={x(atMs)} y1={TOP} y2={TOP + plotHeight} />}
        </svg>
        {atMs !== undefined && (
          <div
            className="chart-tip"
            style={atMs - fromMs < spanMs / 2 ? { right: 0 } : { left: '8%' }}
            aria-hidden="true"
          >
            <strong>{MOMENT.format(atMs)}</strong>
            <dl>
              {series.map(({ name, points }, index) => {
                const near = nearest(points, atMs);
                return (
                  <div key={name} style={{ display: 'contents' }}>
                    <dt>
                      <span className={`swatch s${index}`} />
                      {name}
                    </dt>
                    <dd className="num">{near === null ? '–' : format(near)}</dd>
                  </div>
                );
              })}
            </dl>
          </div>
        )}
      </div>
      {series.length > 1 && (
        <ul className="legend">
          {series.map(({ name }, index) => (
            <li key={name}>
              <span className={`swatch s${index}`} aria-hidden="true" />
              {name}
            </li>
          ))}
        </ul>
      )}
      <SeriesTable {...props} />
    </div>
  );
}

function Runs({
  index,
  points,
  x,
  y,
}: {
  index: number;
  points: TimedSeries['points'];
  x: (ms: number) => number;
  y: (value: number) => number;
}) {
  const runs: { key: string; dots: [number, number][] }[] = [];
  let open = false;
  for (const { at, value } of points) {
    if (value === null) {
      open = false;
      continue;
    }
    if (!open) runs.push({ key: at, dots: [] });
    open = true;
    runs.at(-1)?.dots.push([x(Date.parse(at)), y(value)]);
  }
  return runs.map(({ key, dots }) => {
    const [first] = dots;
    if (dots.length === 1 && first !== undefined)
      return <circle key={key} className={`dot s${index}`} cx={first[0]} cy={first[1]} r="2.5" />;
    return (
      <polyline
        key={key}
        className={`line s${index}`}
        points={dots.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(' ')}
      />
    );
  });
}

function nearest(points: TimedSeries['points'], ms: number): number | null {
  let best: TimedSeries['points'][number] | undefined;
  for (const candidate of points) {
    if (best === undefined || Math.abs(Date.parse(candidate.at) - ms) < Math.abs(Date.parse(best.at) - ms))
      best = candidate;
  }
  return best?.value ?? null;
}

function SeriesTable({ label, series, format }: SeriesChartProps) {
  const instants = [...new Set(series.flatMap(({ points }) => points.map(({ at }) => at)))].sort();
  const byName = series.map(({ name, points }) => ({
    name,
    values: new Map(points.map(({ at, value }) => [at, value])),
  }));
  return (
    <details className="as-table">
      <summary>Show as a table</summary>
      <div tabIndex={0} role="region" aria-label={`${label}, as a table`}>
        <table>
          <thead>
            <tr>
              <th>Time</th>
              {byName.map(({ name }) => (
                <th key={name} className="num">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {instants.map((at) => (
              <tr key={at}>
                <td>
                  <time dateTime={at} title={inUtc(at)}>
                    {MOMENT.format(Date.parse(at))}
                  </time>
                </td>
                {byName.map(({ name, values }) => (
                  <td key={name} className="num">
                    {values.get(at) === null || values.get(at) === undefined ? '–' : format(values.get(at) ?? 0)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function summary({ series, format }: SeriesChartProps): string {
  const parts = series.map(({ name, points }) => {
    const values = points.flatMap(({ value }) => (value === null ? [] : [value]));
    return values.length === 0
      ? `${name}: nothing measured`
      : `${name} between ${format(Math.min(...values))} and ${format(Math.max(...values))}`;
  });
  return `${parts.join(', ')}.`;
}
