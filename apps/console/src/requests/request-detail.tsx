import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Badge, formatCount, formatDuration } from '@sluice/ui';
import type { RequestView } from '@sluice/contracts';
import { consoleApi } from '../api/console-api.ts';
import { ApiError } from '../api/http.ts';
import { Link } from '../routing/link.tsx';
import { urlOf } from '../routing/location.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { Instant } from '../parts/instant.tsx';
import { Loaded } from '../parts/load-state.tsx';
import { Money } from '../parts/money.tsx';
import { Figure, PageHead, Panel } from '../parts/page.tsx';
import { tokenSides } from '../parts/token-count.ts';
import { OUTCOME_WORDS } from './outcome-words.ts';

/** One request: what became of it and why, where its time went, what it used, and each try at a provider. */
export function RequestDetail({ slug, id }: { slug: string; id: string }) {
  const request = useQuery({ queryKey: ['request', slug, id], queryFn: () => consoleApi.request(slug, id) });
  const missing = request.error instanceof ApiError && request.error.status === 404;
  return (
    <>
      <p className="back">
        <Link to={urlOf(slug, 'requests')}>All requests</Link>
      </p>
      <PageHead title="Request" actions={<CopyButton text={id} label="Copy the request id" />}>
        <code className="break">{id}</code>
      </PageHead>
      {missing ? (
        <div className="notice">
          <p>
            <strong>There is no request of this id in this workspace.</strong>
          </p>
          <p>
            A call appears a few seconds after it ended. Of refused calls only some keep their own id; find them by time
            in the list.
          </p>
        </div>
      ) : (
        <Loaded query={request} rows={8}>
          {(data) => <Detail slug={slug} data={data} />}
        </Loaded>
      )}
    </>
  );
}

function Detail({ slug, data }: { slug: string; data: RequestView }) {
  const { word, tone } = OUTCOME_WORDS[data.outcome];
  const tokens = tokenSides(data.tokens);
  return (
    <>
      <Panel title="What became of it">
        <div className="row">
          <Badge tone={tone}>{word}</Badge>
          <span className="num">status {data.status}</span>
          {data.error_code !== null && <code>{data.error_code}</code>}
          {data.fallback && (
            <Badge tone="warn">{`fallback${data.fallback_reason === null ? '' : `: ${data.fallback_reason.replaceAll('_', ' ')}`}`}</Badge>
          )}
          <Instant at={data.occurred_at} seconds />
        </div>
        {data.explanation !== null && (
          <dl className="advice">
            <dt>Why</dt>
            <dd>{data.explanation.why}</dd>
            <dt>What to do</dt>
            <dd>{data.explanation.what_to_do}</dd>
            {data.limit !== null && (
              <>
                <dt>Limit</dt>
                <dd>
                  {data.limit.name}
                  {data.limit.level !== null && `, at the level of the ${data.limit.level}`}
                </dd>
              </>
            )}
          </dl>
        )}
      </Panel>
      <section className="figure-strip" aria-label="Figures">
        <dl className="figures">
          <Figure
            name="input tokens"
            note={partsOf([
              ['cached', data.tokens.cache_read],
              ['written to cache', data.tokens.cache_write],
            ])}
          >
            {formatCount(tokens.input)}
          </Figure>
          <Figure
            name="output tokens"
            note={partsOf([
              ['reasoning', data.tokens.reasoning],
              ['audio', data.tokens.audio],
            ])}
          >
            {formatCount(tokens.output)}
          </Figure>
          <Figure name="cost">
            <Money nano={data.billed_nanousd} />
          </Figure>
          <Figure name="took">{data.total_ms === null ? '–' : formatDuration(data.total_ms)}</Figure>
          <Figure name="first byte after">{data.ttfb_ms === null ? '–' : formatDuration(data.ttfb_ms)}</Figure>
          <Figure name="waited for a model">{data.queue_ms === null ? '–' : formatDuration(data.queue_ms)}</Figure>
        </dl>
      </section>
      {data.attempts.length > 0 && (
        <Panel title="Tries" note="In order; the last one answered or was the last that was allowed.">
          <Attempts attempts={data.attempts} />
        </Panel>
      )}
      <Panel title="About this call">
        <dl className="facts">
          <Fact name="Model asked for">{data.model_requested}</Fact>
          <Fact name="Model that answered">{data.model}</Fact>
          <Fact name="Provider">{data.provider}</Fact>
          <Fact name="API key">
            {data.key_id === null ? null : (
              <Link to={urlOf(slug, 'requests', undefined, { key: data.key_id })}>{data.key_name ?? data.key_id}</Link>
            )}
          </Fact>
          <Fact name="Feature">{data.feature}</Fact>
          <Fact name="End user">{data.end_user}</Fact>
          <Fact name="Kind of call">{data.operation}</Fact>
          <Fact name="Streamed">{data.stream ? 'yes' : 'no'}</Fact>
          <Fact name="Ended because">{data.finish_reason}</Fact>
          <Fact name="Your own id">{data.client_request_id}</Fact>
          <Fact name="Tokens counted by">{data.usage_source}</Fact>
          <Fact name="Time spent in the gateway">
            {data.overhead_us === null ? null : `${formatCount(data.overhead_us)} µs`}
          </Fact>
          {Object.entries(data.tags).map(([name, value]) => (
            <Fact key={name} name={`Tag ${name}`}>
              {value}
            </Fact>
          ))}
        </dl>
      </Panel>
    </>
  );
}

function Attempts({ attempts }: { attempts: RequestView['attempts'] }) {
  return (
    <div className="scroll-x">
      <table className="cards">
        <thead>
          <tr>
            <th>Provider</th>
            <th>Model</th>
            <th>Result</th>
            <th className="num">Status</th>
            <th className="num">Waited</th>
            <th className="num">First byte</th>
            <th className="num">Took</th>
          </tr>
        </thead>
        <tbody>
          {attempts.map((attempt, index) => (
            <tr key={index}>
              <td data-label="Provider">{attempt.provider}</td>
              <td data-label="Model">{attempt.model}</td>
              <td data-label="Result">
                <Badge tone={attempt.outcome === 'ok' ? 'good' : 'bad'}>{attempt.outcome.replaceAll('_', ' ')}</Badge>
              </td>
              <td className="num" data-label="Status">
                {attempt.status ?? '–'}
              </td>
              <td className="num" data-label="Waited">
                {formatDuration(attempt.queue_ms)}
              </td>
              <td className="num" data-label="First byte">
                {attempt.ttfb_ms === null ? '–' : formatDuration(attempt.ttfb_ms)}
              </td>
              <td className="num" data-label="Took">
                {formatDuration(attempt.duration_ms)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="break">{children ?? <span className="muted">–</span>}</dd>
    </div>
  );
}

function partsOf(parts: readonly [string, number][]): string | undefined {
  const words = parts.flatMap(([name, count]) => (count === 0 ? [] : [`${formatCount(count)} ${name}`]));
  return words.length === 0 ? undefined : words.join(', ');
}
