import { useState, type PointerEvent } from 'react';
import { labelIndexes, niceTop } from './scale.ts';
import { useWidth } from './use-width.ts';

export interface ChartSeries {
  readonly name: string;
  /** One value per slot; null is a gap and is drawn as one. */
  readonly values: readonly (number | null)[];
}

export interface TimeChartProps {
  /** What is drawn, for screen readers and the table: `Calls per day`. */
  readonly label: string;
  readonly kind: 'bars' | 'lines';
  /** The name of each slot: `Mar 1`. */
  readonly slots: readonly string[];
  /** At most six; bars are stacked in this order from the bottom. */
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
  /** Names the column of slots in the table. */
  readonly slotName: string;
}

const USUAL_WIDTH = 720;
const HEIGHT = 200;
const LEFT = 56;
const BOTTOM = 22;
const TOP = 8;
const plotHeight = HEIGHT - TOP - BOTTOM;

/** Stacked bars or lines over time, with a reading under the pointer, a legend, and the same as a table. */
export function TimeChart(props: TimeChartProps) {
  const { label, kind, slots, series, format } = props;
  const { ref, width } = useWidth<HTMLDivElement>(USUAL_WIDTH);
  const [at, setAt] = useState<number>();
  const plotWidth = width - LEFT;
  const step = plotWidth / Math.max(1, slots.length);
  const highest =
    kind === 'bars'
      ? slots.map((_, slot) => series.reduce((sum, { values }) => sum + (values[slot] ?? 0), 0))
      : series.flatMap(({ values }) => values.map((value) => value ?? 0));
  const top = niceTop(Math.max(0, ...highest));
  const y = (value: number): number => TOP + plotHeight - (value / top) * plotHeight;

  function point(event: PointerEvent<SVGSVGElement>): void {
    const box = event.currentTarget.getBoundingClientRect();
    const slot = Math.floor((((event.clientX - box.left) / box.width) * width - LEFT) / step);
    setAt(slot >= 0 && slot < slots.length ? slot : undefined);
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
          onPointerLeave={() => setAt(undefined)}
        >
          {[0, 0.5, 1].map((share) => (
            <g key={share}>
              <line className="grid" x1={LEFT} x2={width} y1={y(top * share)} y2={y(top * share)} />
              <text x={LEFT - 8} y={y(top * share) + 4} textAnchor="end">
                {format(top * share)}
              </text>
            </g>
          ))}
          {labelIndexes(slots.length, Math.max(2, Math.floor(plotWidth / 90))).map((slot) => (
            <text
              key={slot}
              x={LEFT + step * (slot + 0.5)}
              y={HEIGHT - 6}
              textAnchor={slot === 0 && step < 60 ? 'start' : 'middle'}
            >
              {slots[slot]}
            </text>
          ))}
          {kind === 'bars'
            ? slots.map((name, slot) => <Stack key={name} slot={slot} series={series} step={step} y={y} />)
            : series.map(({ name, values }, index) => (
                <Line key={name} index={index} values={values} step={step} y={y} />
              ))}
          {at !== undefined && (
            <line
              className="cursor"
              x1={LEFT + step * (at + 0.5)}
              x2={LEFT + step * (at + 0.5)}
              y1={TOP}
              y2={TOP + plotHeight}
            />
          )}
        </svg>
        {at !== undefined && <Reading {...props} at={at} right={at < slots.length / 2} />}
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
      <ChartTable {...props} />
    </div>
  );
}

function Stack({
  slot,
  series,
  step,
  y,
}: {
  slot: number;
  series: readonly ChartSeries[];
  step: number;
  y: (value: number) => number;
}) {
  let base = 0;
  return series.map(({ name, values }, index) => {
    const value = values[slot] ?? 0;
    if (value <= 0) return null;
    const bottom = y(base);
    base += value;
    return (
      <rect
        key={name}
        className={`s${index}`}
        x={LEFT + step * (slot + 0.14)}
        width={step * 0.72}
        y={y(base)}
        height={Math.max(0.5, bottom - y(base))}
      />
    );
  });
}

/** Unbroken runs of a series; a value between two gaps is a dot. */
function Line({
  index,
  values,
  step,
  y,
}: {
  index: number;
  values: readonly (number | null)[];
  step: number;
  y: (value: number) => number;
}) {
  const runs: string[][] = [[]];
  values.forEach((value, slot) => {
    if (value === null) runs.push([]);
    else runs.at(-1)?.push(`${(LEFT + step * (slot + 0.5)).toFixed(1)},${y(value).toFixed(1)}`);
  });
  return runs
    .filter((run) => run.length > 0)
    .map((run) => {
      const [first = '0,0'] = run;
      const [x, cy] = first.split(',');
      return run.length === 1 ? (
        <circle key={first} className={`dot s${index}`} cx={x} cy={cy} r="2.5" />
      ) : (
        <polyline key={first} className={`line s${index}`} points={run.join(' ')} />
      );
    });
}

function Reading({ slots, series, format, at, right }: TimeChartProps & { at: number; right: boolean }) {
  return (
    <div className="chart-tip" style={right ? { right: 0 } : { left: '8%' }} aria-hidden="true">
      <strong>{slots[at]}</strong>
      <dl>
        {series.map(({ name, values }, index) => (
          <div key={name} style={{ display: 'contents' }}>
            <dt>
              <span className={`swatch s${index}`} />
              {name}
            </dt>
            <dd className="num">{values[at] === null || values[at] === undefined ? '–' : format(values[at])}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

function ChartTable({ label, slots, series, format, slotName }: TimeChartProps) {
  return (
    <details className="as-table">
      <summary>Show as a table</summary>
      <div tabIndex={0} role="region" aria-label={`${label}, as a table`}>
        <table>
          <thead>
            <tr>
              <th>{slotName}</th>
              {series.map(({ name }) => (
                <th key={name} className="num">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {slots.map((slot, row) => (
              <tr key={slot}>
                <td>{slot}</td>
                {series.map(({ name, values }) => (
                  <td key={name} className="num">
                    {values[row] === null || values[row] === undefined ? '–' : format(values[row])}
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

function summary({ slots, series, format }: TimeChartProps): string {
  if (slots.length === 0) return 'Nothing in this time.';
  const highest = series.map(
    ({ name, values }) => `${name} at most ${format(Math.max(0, ...values.map((value) => value ?? 0)))}`,
  );
  return `From ${slots[0]} to ${slots.at(-1)}: ${highest.join(', ')}.`;
}
