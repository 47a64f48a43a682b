import { ChartFrame } from './outcome-bars.tsx';

export interface LineSeries {
  readonly label: string;
  /** Oldest first, evenly spaced; null is a gap. */
  readonly values: readonly (number | null)[];
}

export interface LineChartProps {
  /** What is drawn, with its unit; stands above the lines. */
  readonly label: string;
  /** At most five: each has a colour and a dash of its own. */
  readonly series: readonly LineSeries[];
  /** Top of the scale; the greatest value when absent. */
  readonly max?: number;
  readonly format: (value: number) => string;
  /** Words at both ends of the time axis. */
  readonly left: string;
  readonly right: string;
  readonly height?: number;
}

const WIDTH = 600;

/** Lines over time with a legend that carries each line's last value. */
export function LineChart({ label, series, max, format, left, right, height = 120 }: LineChartProps) {
  const top = Math.max(max ?? 0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0))) || 1;
  return (
    <figure className="line-chart">
      <figcaption className="small">{label}</figcaption>
      <ChartFrame top={format(top)} bottom={format(0)} left={left} right={right}>
        <svg
          className="plot"
          viewBox={`0 0 ${WIDTH} ${height}`}
          preserveAspectRatio="none"
          style={{ height }}
          role="img"
          aria-label={`${label}: ${series.map((one) => `${one.label} ${lastOf(one, format)}`).join(', ')}`}
        >
          <line className="grid" x1="0" x2={WIDTH} y1={height / 2} y2={height / 2} />
          {series.map((one, index) => (
            <path key={one.label} className={`series series-${(index % 5) + 1}`} d={pathOf(one.values, top, height)} />
          ))}
        </svg>
      </ChartFrame>
      <ul className="legend num">
        {series.map((one, index) => (
          <li key={one.label}>
            <svg width="22" height="8" aria-hidden="true">
              <line className={`series-${(index % 5) + 1}`} x1="0" x2="22" y1="4" y2="4" strokeWidth="2" />
            </svg>{' '}
            {one.label} {lastOf(one, format)}
          </li>
        ))}
      </ul>
    </figure>
  );
}

function lastOf({ values }: LineSeries, format: (value: number) => string): string {
  const last = values.findLast((value) => value !== null);
  return last === undefined || last === null ? '–' : format(last);
}

/** An SVG path in a box of the chart's width; gaps are jumps. */
export function pathOf(values: readonly (number | null)[], top: number, height: number): string {
  const step = WIDTH / Math.max(1, values.length - 1);
  let pen = false;
  let path = '';
  values.forEach((value, index) => {
    if (value === null) {
      pen = false;
      return;
    }
    path += `${pen ? 'L' : 'M'}${(index * step).toFixed(1)} ${(height - (Math.min(Math.max(value, 0), top) / top) * (height - 2) - 1).toFixed(1)}`;
    pen = true;
  });
  return path;
}
