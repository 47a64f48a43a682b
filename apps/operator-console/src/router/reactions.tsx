import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import type { DriftAnswer, HoldDrift } from '@sluice/contracts';
import { Badge, formatCount } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import { useRefusal } from '../session/role.tsx';

type Answer = NonNullable<DriftAnswer['reactions']>;
type Step = Answer['step'];

/** What each step does, in words for people. */
const DOES: Record<Step, string> = {
  watching: 'nothing; it watches',
  alert: 'it tells, and changes nothing',
  explore: 'it tries other models more often',
  forget_slowly: 'it tries other models more often and slowly forgets what it learned of the suspects',
  forget: 'it tries other models more often and quickly forgets what it learned of the suspects',
  freeze: 'no model learns; decisions go on',
  rollback: 'the newest policy was taken back, and no model learns',
};
const TONE = {
  watching: 'good',
  alert: 'warn',
  explore: 'warn',
  forget_slowly: 'warn',
  forget: 'warn',
  freeze: 'bad',
  rollback: 'bad',
} as const satisfies Record<Step, string>;
/** Newest steps that are shown. */
const SHOWN = 8;
const word = (step: Step): string => step.replace('_', ' ');
const time = (at: string): string => new Date(at).toLocaleTimeString('en-GB');

/** What the router does about drift: where it stands, what ends it, what it did and why; and the hold by a person. */
export function Reactions({
  api,
  answer,
  onDone,
}: {
  api: Pick<OperatorApi, 'router'>;
  answer: Answer;
  onDone: () => void;
}) {
  return (
    <>
      <h3>What is done about it</h3>
      <p>
        <Badge tone={TONE[answer.step]}>{word(answer.step)}</Badge> {DOES[answer.step]}
        {answer.since !== undefined && <span className="muted num"> since {time(answer.since)}</span>}
        {answer.suspects !== undefined && answer.suspects.length > 0 && (
          <span className="muted"> · suspects: {answer.suspects.join(', ')}</span>
        )}
      </p>
      <p className="muted">{endOf(answer)}</p>
      {answer.withheld > 0 && (
        <p className="muted num">
          {formatCount(answer.withheld)} rewards of all time were counted and not learned because of a freeze.
        </p>
      )}
      <Hold api={api} answer={answer} onDone={onDone} />
      {answer.history.length > 0 && (
        <ul className="list">
          {answer.history.slice(0, SHOWN).map((one) => (
            <li key={`${one.at} ${one.from} ${one.to} ${one.kind}`}>
              <time className="muted num" dateTime={one.at}>
                {time(one.at)}
              </time>{' '}
              {word(one.from)} → <strong>{word(one.to)}</strong> {one.actor === 'system' ? '' : `by ${one.actor}`}{' '}
              <span className="muted">{one.why}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function endOf({ mode, highest, ends, held_by: by, held_for: why }: Answer): string {
  if (mode === 'held')
    return `Held by ${by ?? 'a person'}: ${why ?? 'no reason was given'}. Nothing moves it until it is released.`;
  if (ends !== undefined)
    return `Goes down to ${word(ends.to)} when nothing is detected until ${time(ends.not_before)} and ${formatCount(ends.rewards_left)} more rewards have come.`;
  return highest === 'watching'
    ? 'Reactions are off in this deployment (SLUICE_DRIFT_REACTIONS).'
    : `The first detection raises an alert; it goes no further by itself than ${word(highest)}.`;
}

function Hold({ api, answer, onDone }: { api: Pick<OperatorApi, 'router'>; answer: Answer; onDone: () => void }) {
  const [open, setOpen] = useState(false);
  const refusal = useRefusal('operator');
  const held = answer.mode === 'held';
  const act = useMutation({
    mutationFn: ({ step, reason }: { step: string; reason: string }) =>
      held ? api.router.releaseDrift(reason) : api.router.holdDrift(step as HoldDrift['step'], reason),
    onSuccess: () => {
      setOpen(false);
      onDone();
    },
  });
  if (!open) {
    return (
      <button type="button" disabled={refusal !== undefined} title={refusal} onClick={() => setOpen(true)}>
        {held ? 'Release' : 'Hold at a step'}
      </button>
    );
  }
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    act.mutate({ step: String(form.get('step')), reason: String(form.get('reason')) });
  };
  return (
    <form className="inline" onSubmit={submit}>
      {!held && (
        <select
          name="step"
          aria-label="Step to hold"
          defaultValue={answer.step === 'rollback' ? 'freeze' : answer.step}
        >
          {answer.steps
            .filter((step) => step !== 'rollback')
            .map((step) => (
              <option key={step} value={step}>
                {word(step)}
              </option>
            ))}
        </select>
      )}
      <input
        name="reason"
        required
        minLength={3}
        maxLength={500}
        placeholder={held ? 'Why release?' : 'Why hold?'}
        aria-label={held ? 'Reason to release' : 'Reason to hold'}
        autoFocus
      />
      <button type="submit" className="danger" disabled={act.isPending}>
        {held ? 'Release' : 'Hold'}
      </button>
      <button type="button" onClick={() => setOpen(false)}>
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
