export interface ScatterPoint {
  readonly label: string;
  readonly x: number;
  readonly y: number;
  /** Half of the interval around y. */
  readonly yError?: number | undefined;
  /** Drawn filled: what stands on the frontier, or is in use. */
  readonly on: boolean;
}

export interface ScatterPlotProps {
  readonly label: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly points: readonly ScatterPoint[];
  readonly formatX: (value: number) => string;
  readonly formatY: (value: number) => string;
  /** A dashed line through these, left to right. */
  readonly line?: readonly { readonly x: number; readonly y: number }[];
}

const W = 560;
const H = 260;
const PAD = { left: 56, right: 90, top: 16, bottom: 40 };

/** Points by two figures, each with its name beside it, intervals as whiskers. */
export function ScatterPlot({ label, xLabel, yLabel, points, formatX, formatY, line = [] }: ScatterPlotProps) {
  const xs = spread([...points.map(({ x }) => x), ...line.map(({ x }) => x)]);
  const ys = spread(points.flatMap(({ y, yError = 0 }) => [y - yError, y + yError]));
  const px = (x: number): number => PAD.left + ((x - xs.min) / (xs.max - xs.min)) * (W - PAD.left - PAD.right);
  const py = (y: number): number => H - PAD.bottom - ((y - ys.min) / (ys.max - ys.min)) * (H - PAD.top - PAD.bottom);
  return (
    <svg
      className="plot num"
      viewBox={`0 0 ${W} ${H}`}
      role="img"
      aria-label={`${label}: ${points.map((point) => `${point.label} ${yLabel} ${formatY(point.y)} at ${xLabel} ${formatX(point.x)}`).join('; ')}`}
    >
      <line className="grid" x1={PAD.left} x2={W - PAD.right} y1={H - PAD.bottom} y2={H - PAD.bottom} />
      <line className="grid" x1={PAD.left} x2={PAD.left} y1={PAD.top} y2={H - PAD.bottom} />
      {[ys.min, (ys.min + ys.max) / 2, ys.max].map((y) => (
        <text key={y} x={PAD.left - 6} y={py(y) + 4} textAnchor="end">
          {formatY(y)}
        </text>
      ))}
      {[xs.min, xs.max].map((x) => (
        <text key={x} x={px(x)} y={H - PAD.bottom + 15} textAnchor="middle">
          {formatX(x)}
        </text>
      ))}
      <text x={(PAD.left + W - PAD.right) / 2} y={H - 8} textAnchor="middle">
        {xLabel} →
      </text>
      <text x={PAD.left + 4} y={12}>
        ↑ {yLabel}
      </text>
      {line.length > 1 && <polyline className="hull" points={line.map(({ x, y }) => `${px(x)},${py(y)}`).join(' ')} />}
      {points.map((point) => (
        <g key={point.label}>
          {point.yError !== undefined && (
            <line
              className="whisker"
              x1={px(point.x)}
              x2={px(point.x)}
              y1={py(point.y - point.yError)}
              y2={py(point.y + point.yError)}
            />
          )}
          <circle className={`dot ${point.on ? 'on' : 'off'}`} cx={px(point.x)} cy={py(point.y)} r="5" />
          <text x={px(point.x) + 9} y={py(point.y) + 4}>
            {point.label}
          </text>
        </g>
      ))}
    </svg>
  );
}

function spread(values: readonly number[]): { min: number; max: number } {
  const min = Math.min(...values);
  const max = Math.max(...values);
  if (!Number.isFinite(min)) return { min: 0, max: 1 };
  const margin = (max - min || Math.abs(max) || 1) * 0.08;
  // Where nothing is negative, an axis that begins below zero would mislead.
  return { min: min >= 0 ? Math.max(0, min - margin) : min - margin, max: max + margin };
}
