import { useState } from 'react';
import type { UsageView } from '@sluice/contracts';
import { formatCount } from '@sluice/ui';
import { TimeChart, type ChartSeries } from '../charts/time-chart.tsx';
import { Segments } from '../parts/segments.tsx';
import { dollars } from '../parts/money.tsx';
import { stepsOf } from './ranges.ts';

type Metric = 'cost' | 'calls' | 'tokens';
type Point = UsageView['points'][number];
const METRICS = [
  { id: 'cost', title: 'Cost' },
  { id: 'calls', title: 'Calls' },
  { id: 'tokens', title: 'Tokens' },
] as const;
const DRAWN = 5;
const DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });
const HOUR = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

/** Stacked bars by model or feature: the five largest, and the others as one. */
export function UsageChart({ data, split }: { data: UsageView; split: 'model' | 'feature' }) {
  const money = data.totals.billed_nanousd !== null;
  const [wanted, setMetric] = useState<Metric>('cost');
  const metric = wanted === 'cost' && !money ? 'calls' : wanted;
  const steps = stepsOf(data);
  const words = data.step === 'hour' ? HOUR : DAY;
  return (
    <div className="stack">
      <div>
        <Segments
          label="Show"
          options={METRICS.filter(({ id }) => money || id !== 'cost')}
          value={metric}
          onChange={setMetric}
        />
      </div>
      <TimeChart
        label={`${METRICS.find(({ id }) => id === metric)?.title} per ${data.step} by ${split}`}
        kind="bars"
        slotName={data.step === 'hour' ? 'Hour (UTC)' : 'Day (UTC)'}
        slots={steps.map((step) => words.format(new Date(step)))}
        series={stack(data.points, steps, split, (point) => valueOf(point, metric))}
        format={metric === 'cost' ? dollars : formatCount}
      />
    </div>
  );
}

function valueOf(point: Point, metric: Metric): number {
  if (metric === 'cost') return point.billed_nanousd ?? 0;
  return metric === 'calls' ? point.calls : point.input_tokens + point.output_tokens;
}

/** One series per name with a value for each step; names beyond the largest five are summed. */
export function stack(
  points: readonly Point[],
  steps: readonly string[],
  split: 'model' | 'feature',
  value: (point: Point) => number,
): ChartSeries[] {
  const totals = new Map<string, number>();
  const nameOf = (point: Point): string => point[split] ?? `no ${split}`;
  for (const point of points) totals.set(nameOf(point), (totals.get(nameOf(point)) ?? 0) + value(point));
  const largest = [...totals].toSorted((a, b) => b[1] - a[1]).map(([name]) => name);
  const drawn = new Set(largest.slice(0, largest.length > DRAWN + 1 ? DRAWN : DRAWN + 1));
  const slotOf = new Map(steps.map((step, index) => [Date.parse(step), index]));
  const series = new Map(
    [...drawn, ...(drawn.size < largest.length ? ['others'] : [])].map((name) => [name, steps.map(() => 0)]),
  );
  for (const point of points) {
    const values = series.get(drawn.has(nameOf(point)) ? nameOf(point) : 'others');
    const slot = slotOf.get(Date.parse(point.at));
    if (values !== undefined && slot !== undefined) values[slot] = (values[slot] ?? 0) + value(point);
  }
  return [...series].map(([name, values]) => ({ name, values }));
}
