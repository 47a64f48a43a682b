import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { formatCount, formatDuration } from '@sluice/ui';
import { consoleApi } from '../api/console-api.ts';
import { Loaded } from '../parts/load-state.tsx';
import { Panel } from '../parts/page.tsx';
import { SeriesChart } from '../charts/series-chart.tsx';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const POINTS = 240;

/** Calls, failures and latency of the last 24 hours. */
export function LastDay({ slug }: { slug: string }) {
  // The range stays as it was when the page was opened, so that the same minute is not asked for anew each second.
  const [{ from, to }] = useState(() => {
    const endMs = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS;
    return { from: new Date(endMs - DAY_MS).toISOString(), to: new Date(endMs).toISOString() };
  });
  const calls = useQuery({
    queryKey: ['series', slug, 'calls', from],
    queryFn: () => consoleApi.series(slug, 'calls', from, to, POINTS),
    refetchInterval: MINUTE_MS,
  });
  const failures = useQuery({
    queryKey: ['series', slug, 'failures', from],
    queryFn: () => consoleApi.series(slug, 'failures', from, to, POINTS),
    refetchInterval: MINUTE_MS,
  });
  const latency = useQuery({
    queryKey: ['series', slug, 'latency', from],
    queryFn: () => consoleApi.series(slug, 'latency_ms', from, to, POINTS),
    refetchInterval: MINUTE_MS,
  });
  return (
    <div className="columns">
      <Panel
        title="Calls, last 24 hours"
        note={calls.data === undefined ? undefined : `Per ${stepInWords(calls.data.step_s)}. Short peaks stay visible.`}
      >
        <Loaded query={calls}>
          {(data) => (
            <SeriesChart
              label={`Calls per ${stepInWords(data.step_s)}`}
              from={data.from}
              to={data.to}
              format={formatCount}
              series={[
                { name: 'calls', points: data.points },
                ...(failures.data === undefined ? [] : [{ name: 'failed or refused', points: failures.data.points }]),
              ]}
            />
          )}
        </Loaded>
      </Panel>
      <Panel
        title="Time to answer, last 24 hours"
        note="From the call to the end of its answer. A gap is a time without calls."
      >
        <Loaded query={latency}>
          {(data) => (
            <SeriesChart
              label="Time to answer"
              from={data.from}
              to={data.to}
              format={formatDuration}
              series={[{ name: 'time to answer', points: data.points }]}
            />
          )}
        </Loaded>
      </Panel>
    </div>
  );
}

/** Length of a step: `minute`, `5 minutes`, `hour`. */
export function stepInWords(seconds: number): string {
  const [size, word] =
    seconds % 86_400 === 0
      ? [86_400, 'day']
      : seconds % 3600 === 0
        ? [3600, 'hour']
        : seconds % 60 === 0
          ? [60, 'minute']
          : [1, 'second'];
  const count = seconds / size;
  return count === 1 ? word : `${count} ${word}s`;
}
