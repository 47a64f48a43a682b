import { lazy, Suspense, useState } from 'react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { UsageView } from '@sluice/contracts';
import { formatCount } from '@sluice/ui';
import { consoleApi } from '../api/console-api.ts';
import { Segments } from '../parts/segments.tsx';
import { setSearch, usePlace } from '../routing/location.ts';
import { Empty, Loaded, Loading } from '../parts/load-state.tsx';
import { Money } from '../parts/money.tsx';
import { Figure, PageHead, Panel } from '../parts/page.tsx';
import type { PageProps } from '../shell/page-props.ts';
import { Change } from './change.tsx';
import { customRange, presetRange, RANGES, type Range, type RangeId } from './ranges.ts';
import { UsageTable } from './usage-table.tsx';

const UsageChart = lazy(async () => ({ default: (await import('./usage-chart.tsx')).UsageChart }));

const BY = [
  { id: 'model', title: 'Model' },
  { id: 'feature', title: 'Feature' },
  { id: 'key', title: 'API key' },
  { id: 'end_user', title: 'End user' },
  { id: 'day', title: 'Day' },
] as const satisfies readonly { id: UsageView['by']; title: string }[];

/**
 * Calls, tokens and cost of a time, by what the person chooses, beside the time just before. The choice stands in
 * the address.
 */
export function Usage({ slug }: PageProps) {
  const { search } = usePlace();
  const [nowMs] = useState(() => Date.now());
  const by = BY.find(({ id }) => id === search.get('by'))?.id ?? 'model';
  const first = search.get('first');
  const last = search.get('last');
  const preset = RANGES.find(({ id }) => id === search.get('range'))?.id ?? '30d';
  const chosen = first !== null && last !== null ? customRange(first, last) : presetRange(preset, nowMs);
  const range = typeof chosen === 'string' ? undefined : chosen;

  return (
    <>
      <PageHead
        title="Usage and cost"
        actions={
          range && (
            <a className="button" href={consoleApi.usageCsvUrl(slug, { ...range, by })} download>
              Download CSV
            </a>
          )
        }
      >
        Days begin at midnight UTC. The comparison is with the time of the same length just before.
      </PageHead>
      <div className="filters">
        <Segments
          label="Time"
          options={RANGES}
          value={first === null ? preset : undefined}
          onChange={(id: RangeId) => setSearch({ range: id, first: undefined, last: undefined })}
        />
        <DayFields key={`${first} ${last}`} first={first} last={last} />
        <Segments label="By" options={BY} value={by} onChange={(id) => setSearch({ by: id })} />
      </div>
      {range === undefined ? (
        <p className="notice bad" role="alert">
          {String(chosen)}
        </p>
      ) : (
        <UsageOf slug={slug} range={range} by={by} />
      )}
    </>
  );
}

function DayFields({ first, last }: { first: string | null; last: string | null }) {
  const [days, setDays] = useState({ first: first ?? '', last: last ?? '' });
  return (
    <form
      className="day-fields"
      onSubmit={(event) => {
        event.preventDefault();
        setSearch({ ...days, range: undefined });
      }}
    >
      <label>
        From{' '}
        <input type="date" required value={days.first} onChange={(e) => setDays({ ...days, first: e.target.value })} />
      </label>
      <label>
        To <input type="date" required value={days.last} onChange={(e) => setDays({ ...days, last: e.target.value })} />
      </label>
      <button>Show</button>
    </form>
  );
}

function UsageOf({ slug, range, by }: { slug: string; range: Range; by: UsageView['by'] }) {
  const usage = useQuery({
    queryKey: ['usage', slug, range.from, range.to, by],
    queryFn: () => consoleApi.usage(slug, { ...range, by }),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  const title = BY.find(({ id }) => id === by)?.title ?? by;
  return (
    <Loaded query={usage} rows={8}>
      {(data) =>
        data.totals.calls === 0 && data.previous.calls === 0 ? (
          <Panel title="Usage">
            <Empty title="No calls in this time">
              Calls appear here a few seconds after they are answered. Refused calls use nothing and stand under
              Requests.
            </Empty>
          </Panel>
        ) : (
          <div className={usage.isPlaceholderData ? 'stale stack' : 'stack'}>
            <Totals data={data} />
            <Panel
              title="Over time"
              note={data.step === 'hour' ? 'Per hour, UTC.' : 'Per day, UTC. The current day is not over yet.'}
            >
              <Suspense fallback={<Loading rows={6} />}>
                <UsageChart data={data} split={by === 'feature' ? 'feature' : 'model'} />
              </Suspense>
            </Panel>
            <Panel title={`By ${title === 'API key' ? title : title.toLowerCase()}`}>
              <UsageTable data={data} title={title} />
            </Panel>
          </div>
        )
      }
    </Loaded>
  );
}

function Totals({ data: { totals, previous } }: { data: UsageView }) {
  return (
    <section className="figure-strip" aria-label="Totals">
      <dl className="figures">
        <Figure name="calls" note={<Change now={totals.calls} before={previous.calls} show={formatCount} />}>
          {formatCount(totals.calls)}
        </Figure>
        <Figure
          name="input tokens"
          note={<Change now={totals.input_tokens} before={previous.input_tokens} show={formatCount} />}
        >
          {formatCount(totals.input_tokens)}
        </Figure>
        <Figure
          name="output tokens"
          note={<Change now={totals.output_tokens} before={previous.output_tokens} show={formatCount} />}
        >
          {formatCount(totals.output_tokens)}
        </Figure>
        <Figure
          name="cost"
          note={
            <Change
              now={totals.billed_nanousd}
              before={previous.billed_nanousd}
              show={(nano) => <Money nano={nano} />}
            />
          }
        >
          <Money nano={totals.billed_nanousd} />
        </Figure>
      </dl>
    </section>
  );
}
