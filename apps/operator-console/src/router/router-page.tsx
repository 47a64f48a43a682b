import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ArmsAnswer, DecisionView } from '@sluice/contracts';
import { Badge, formatCallUsd, formatCount, formatDuration, formatNanoUsd, ScatterPlot, ScrollX } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import { Drift } from './drift.tsx';
import { Reactions } from './reactions.tsx';
import { Rollouts } from './rollouts.tsx';
import { Storage } from './storage.tsx';

const EVERY_MS = 5_000;
const share = (value: number): string => value.toFixed(3);

/**
 * How models are chosen: what is known of each, the frontier, rollouts with their evidence, drift, and recent
 * decisions.
 */
export function RouterPage({ api }: { api: OperatorApi }) {
  const arms = useQuery({ queryKey: ['router', 'arms'], queryFn: api.router.arms, refetchInterval: EVERY_MS });
  const drift = useQuery({ queryKey: ['router', 'drift'], queryFn: api.router.drift, refetchInterval: EVERY_MS });
  const storage = useQuery({
    queryKey: ['router', 'storage'],
    queryFn: api.router.storage,
    refetchInterval: 4 * EVERY_MS,
  });
  const tenants = useQuery({ queryKey: ['router', 'tenants'], queryFn: api.router.tenants, refetchInterval: EVERY_MS });
  const decisions = useQuery({
    queryKey: ['router', 'decisions'],
    queryFn: api.router.decisions,
    refetchInterval: EVERY_MS,
  });
  if (arms.isError && arms.data === undefined) {
    return (
      <p className="notice warn" role="alert">
        The router does not answer: {arms.error.message} Gateways go on with the last policy that they have, then with
        the default model.
      </p>
    );
  }
  return (
    <>
      <Part title="Models that are chosen among" loading={arms.data === undefined}>
        {arms.data !== undefined && <Arms answer={arms.data} />}
      </Part>
      <Rollouts api={api} />
      <div className="columns">
        <Part title="Drift" loading={drift.data === undefined} problem={drift.error?.message}>
          {drift.data !== undefined && <Drift answer={drift.data} />}
          {drift.data?.reactions !== undefined && (
            <Reactions api={api} answer={drift.data.reactions} onDone={() => void drift.refetch()} />
          )}
        </Part>
        <Part
          title="Tenants as the router sees them"
          loading={tenants.data === undefined}
          problem={tenants.error?.message}
        >
          {tenants.data !== undefined &&
            (tenants.data.tenants.length === 0 ? (
              <p className="empty">It has heard of no traffic yet.</p>
            ) : (
              <ScrollX label="Tenants as the router sees them">
                <table>
                  <thead>
                    <tr>
                      <th scope="col">tenant</th>
                      <th scope="col" className="num">
                        difficulty
                      </th>
                      <th scope="col" className="num">
                        pressure
                      </th>
                      <th scope="col" className="num">
                        calls
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {tenants.data.tenants.map((one) => (
                      <tr key={one.tenant}>
                        <th scope="row" className="row-name">
                          {one.tenant}
                        </th>
                        <td className="num">{one.difficulty.toFixed(2)}</td>
                        <td className="num">
                          {one.pressure > 0.01 ? (
                            <Badge tone="warn">{one.pressure.toFixed(2)}</Badge>
                          ) : (
                            one.pressure.toFixed(2)
                          )}
                        </td>
                        <td className="num">{formatCount(one.calls)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </ScrollX>
            ))}
        </Part>
      </div>
      <Part title="What the router keeps" loading={storage.data === undefined} problem={storage.error?.message}>
        {storage.data !== undefined && <Storage answer={storage.data} />}
      </Part>
      <Part title="Recent decisions" loading={decisions.data === undefined} problem={decisions.error?.message}>
        {decisions.data !== undefined && <Decisions decisions={decisions.data.decisions} />}
      </Part>
    </>
  );
}

/** A panel that says when its figures cannot be had. */
export function Part({
  title,
  loading,
  problem,
  children,
}: {
  title: string;
  loading: boolean;
  problem?: string | undefined;
  children: ReactNode;
}) {
  return (
    <section className="panel" aria-label={title}>
      <h2>{title}</h2>
      {problem !== undefined && (
        <p className="notice warn" role="alert">
          {problem}
        </p>
      )}
      {loading && problem === undefined ? <p className="muted">One moment…</p> : children}
    </section>
  );
}

function Arms({ answer }: { answer: ArmsAnswer }) {
  const { arms, frontier } = answer;
  const priced = arms.flatMap((arm) =>
    arm.mean_cost_nanousd === undefined ? [] : [{ ...arm, cost: arm.mean_cost_nanousd }],
  );
  return (
    <>
      <p className="muted num">
        policy {answer.policy_version} · serving threshold {share(frontier.serving_threshold)}
      </p>
      <div className="columns">
        <ScrollX label="Models">
          <table>
            <thead>
              <tr>
                <th scope="col">model</th>
                <th scope="col" className="num">
                  quality
                </th>
                <th scope="col" className="num">
                  rewards
                </th>
                <th scope="col" className="num">
                  chosen
                </th>
                <th scope="col" className="num">
                  cost of a call, mean
                </th>
                <th scope="col" className="num">
                  time to answer, mean
                </th>
              </tr>
            </thead>
            <tbody>
              {arms.map((arm) => (
                <tr key={arm.model}>
                  <th scope="row" className="row-name">
                    {arm.model}
                  </th>
                  <td className="num">
                    {share(arm.quality)} <span className="muted">± {share(arm.confidence)}</span>
                  </td>
                  <td className="num">{formatCount(arm.n)}</td>
                  <td className="num">{formatCount(arm.decisions)}</td>
                  <td className="num">
                    {arm.mean_cost_nanousd === undefined ? '–' : formatCallUsd(arm.mean_cost_nanousd)}
                  </td>
                  <td className="num">
                    {arm.mean_latency_ms === undefined ? '–' : formatDuration(arm.mean_latency_ms)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollX>
        {priced.length + frontier.points.length === 0 ? (
          <p className="empty">There is nothing to draw before the first decisions.</p>
        ) : (
          <figure className="frontier">
            <ScatterPlot
              label="Quality against cost"
              xLabel="cost of a decision"
              yLabel="predicted quality"
              points={priced.map((arm) => ({
                label: arm.model,
                x: arm.cost,
                y: arm.quality,
                yError: arm.confidence,
                on: arm.decisions > 0,
              }))}
              line={frontier.points
                .map(({ cost_nanousd, quality }) => ({ x: cost_nanousd, y: quality }))
                .sort((a, b) => a.x - b.x)}
              formatX={(nanoUsd) => `$${Number((nanoUsd / 1e9).toPrecision(2))}`}
              formatY={share}
            />
            <figcaption className="muted small">
              Points are models (filled: chosen lately; the whisker is the confidence).
              {frontier.points.length > 1 &&
                ` The dashed line is what the policy reaches by its threshold, over ${formatCount(frontier.decisions)} recent decisions, as the models predict it.`}
            </figcaption>
          </figure>
        )}
      </div>
    </>
  );
}

/** What the figure beside a level is. */
function Decisions({ decisions }: { decisions: readonly DecisionView[] }) {
  if (decisions.length === 0) return <p className="empty">No decision yet: send a request with the model “auto”.</p>;
  return (
    <ul className="list decisions">
      {decisions.map((view) => (
        <li key={view.decision.decision_id}>
          <details>
            <summary>
              <time className="muted num" dateTime={view.at}>
                {new Date(view.at).toLocaleTimeString('en-GB')}
              </time>{' '}
              {view.workspace} → <strong>{view.decision.chosen}</strong> <span className="muted">{view.reason}</span>
            </summary>
            <ScrollX label="How the models were judged">
              <table>
                <thead>
                  <tr>
                    <th scope="col">model</th>
                    <th scope="col">verdict</th>
                    <th scope="col" className="num">
                      quality
                    </th>
                    <th scope="col" className="num">
                      cost
                    </th>
                    <th scope="col" className="num">
                      probability
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {view.arms.map((arm) => (
                    <tr key={arm.model}>
                      <th scope="row" className="row-name">
                        {arm.model}
                      </th>
                      <td>
                        {arm.class}{' '}
                        {arm.excluded_reason !== undefined && <span className="muted">{arm.excluded_reason}</span>}
                      </td>
                      <td className="num">
                        {arm.q_mean === undefined
                          ? '–'
                          : `${share(arm.q_mean)} (${share(arm.q_lcb ?? arm.q_mean)} to ${share(arm.q_ucb ?? arm.q_mean)})`}
                      </td>
                      <td className="num">{formatNanoUsd(arm.cost_nanousd)}</td>
                      <td className="num">{share(arm.probability)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </ScrollX>
          </details>
        </li>
      ))}
    </ul>
  );
}
