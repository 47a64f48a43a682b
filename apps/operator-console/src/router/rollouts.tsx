import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import type { RolloutView } from '@sluice/contracts';
import { Badge, formatCount, formatDuration, LineChart } from '@sluice/ui';
import type { OperatorApi, RolloutDeed } from '../api/operator-api.ts';
import { useRefusal } from '../session/role.tsx';

const EVERY_MS = 2_000;
const STATE = { created: 'plain', running: 'plain', promoted: 'good', rolled_back: 'bad', aborted: 'warn' } as const;
/** What a person may do to a rollout in a state. */
const DEEDS: Record<RolloutView['state'], readonly RolloutDeed[]> = {
  created: ['start', 'abort'],
  running: ['abort'],
  promoted: [],
  rolled_back: ['reset'],
  aborted: ['reset'],
};

/** Rollouts with their evidence over time, and what a person may do, with a reason. */
export function Rollouts({ api }: { api: OperatorApi }) {
  const rollouts = useQuery({
    queryKey: ['router', 'rollouts'],
    queryFn: api.router.rollouts,
    refetchInterval: EVERY_MS,
  });
  const found = rollouts.data?.rollouts ?? [];
  return (
    <section className="panel" aria-labelledby="rollouts">
      <h2 id="rollouts">Rollouts</h2>
      {rollouts.isError && (
        <p className="notice warn" role="alert">
          {rollouts.error.message}
        </p>
      )}
      {rollouts.isSuccess && found.length === 0 && <p className="empty">No policy is being rolled out.</p>}
      {found.map((rollout) => (
        <Rollout key={rollout.id} api={api} rollout={rollout} onDone={() => void rollouts.refetch()} />
      ))}
    </section>
  );
}

function Rollout({ api, rollout, onDone }: { api: OperatorApi; rollout: RolloutView; onDone: () => void }) {
  const { evidence, quality } = rollout;
  const last = rollout.history.at(-1);
  return (
    <article className="rollout">
      <div className="section-head">
        <h3>
          {rollout.policy_version} <span className="muted">against {rollout.control_version}</span>
        </h3>
        <Badge tone={STATE[rollout.state]}>{rollout.state.replace('_', ' ')}</Badge>
        <span className="muted num">
          stage {rollout.stage}, {(rollout.weight * 100).toFixed(0)} % of decisions · {formatCount(rollout.samples)} of{' '}
          {formatCount(rollout.needed)} samples
          {rollout.clock === 'replay' && ' · replay on simulated decisions'}
          {rollout.eta_s !== null &&
            rollout.state === 'running' &&
            ` · about ${formatDuration(rollout.eta_s * 1000)} to go`}
        </span>
        <span className="grow" />
        <Deeds api={api} rollout={rollout} onDone={onDone} />
      </div>
      {rollout.points.length > 1 && (
        <LineChart
          label="Evidence, logarithm of the e-values"
          series={[
            {
              label: `for promoting (needs ${evidence.log_promote_at.toFixed(1)})`,
              values: rollout.points.map(({ log_promote }) => Math.max(0, log_promote)),
            },
            {
              label: `for a breach (needs ${evidence.log_breach_at.toFixed(1)})`,
              values: rollout.points.map(({ log_breach }) => Math.max(0, log_breach)),
            },
          ]}
          max={Math.max(evidence.log_promote_at, evidence.log_breach_at)}
          format={(value) => value.toFixed(1)}
          left={new Date(rollout.points[0]?.at ?? rollout.created_at).toLocaleTimeString('en-GB')}
          right={new Date(rollout.points.at(-1)?.at ?? rollout.created_at).toLocaleTimeString('en-GB')}
        />
      )}
      <p className="num">
        Quality {quality.candidate === undefined ? 'not known yet' : quality.candidate.toFixed(3)}, control{' '}
        {quality.control === undefined ? 'not known yet' : quality.control.toFixed(3)}, may be lower by{' '}
        {quality.margin.toFixed(3)}.{' '}
        {rollout.hard.map((limit) => (
          <span key={limit.name}>
            {limit.name.replaceAll('_', ' ')} {limit.candidate.toPrecision(3)}{' '}
            <span className="muted">(limit {limit.limit.toPrecision(3)})</span>.{' '}
          </span>
        ))}
      </p>
      {last !== undefined && (
        <p className="muted">
          {new Date(last.at).toLocaleTimeString('en-GB')} {last.from} → {last.to} by {last.actor}: {last.reason}
        </p>
      )}
    </article>
  );
}

function Deeds({ api, rollout, onDone }: { api: OperatorApi; rollout: RolloutView; onDone: () => void }) {
  const [deed, setDeed] = useState<RolloutDeed>();
  const refusal = useRefusal('operator');
  const act = useMutation({
    mutationFn: ({ what, reason }: { what: RolloutDeed; reason: string }) => api.router.act(rollout.id, what, reason),
    onSuccess: () => {
      setDeed(undefined);
      onDone();
    },
  });
  if (deed === undefined) {
    return (
      <span className="inline">
        {DEEDS[rollout.state].map((what) => (
          <button
            key={what}
            type="button"
            disabled={refusal !== undefined}
            title={refusal}
            onClick={() => setDeed(what)}
          >
            {what}
          </button>
        ))}
      </span>
    );
  }
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    act.mutate({ what: deed, reason: String(new FormData(event.currentTarget).get('reason')) });
  };
  return (
    <form className="inline" onSubmit={submit}>
      <input
        name="reason"
        required
        minLength={3}
        maxLength={500}
        placeholder={`Why ${deed}?`}
        aria-label={`Reason to ${deed} ${rollout.policy_version}`}
        autoFocus
      />
      <button type="submit" className="danger" disabled={act.isPending}>
        {deed}
      </button>
      <button type="button" onClick={() => setDeed(undefined)}>
        Cancel
      </button>
      {act.isError && (
        <span role="alert" className="field-problem">
          {act.error.message}
        </span>
      )}
    </form>
  );
}
