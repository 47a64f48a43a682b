import type { DriftAnswer } from '@sluice/contracts';
import { Badge, formatCount } from '@sluice/ui';

type Reward = DriftAnswer['rewards'][number];

const clockTime = (at: string): string => new Date(at).toLocaleTimeString('en-GB');
const signed = (value: number): string => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
const PSI = 'Population stability index: 0 is the same mix as before, from 0.1 on it has moved, from 0.25 on a lot';

const WEIGHT = {
  too_few: { tone: 'plain', word: 'too few' },
  stable: { tone: 'good', word: 'as logged' },
  off: { tone: 'bad', word: 'not as logged' },
} as const;
const LEVEL = {
  too_few: { tone: 'plain', word: 'too few' },
  stable: { tone: 'good', word: 'stable' },
  moderate: { tone: 'warn', word: 'moderate' },
  major: { tone: 'bad', word: 'major' },
} as const;

/** What has moved: features, the mix of models, rewards; and whether decisions are drawn as they are logged. */
export function Drift({ answer }: { answer: DriftAnswer }) {
  const moved = answer.features.filter(
    ({ level, discovery }) => level === 'moderate' || level === 'major' || discovery,
  );
  const shifted = answer.rewards.filter(
    ({ alarmed_at, recent }) => alarmed_at !== undefined || (recent?.cuts ?? 0) > 0,
  );
  return (
    <>
      <p className="muted num">
        {formatCount(answer.window.recent)} recent decisions against {formatCount(answer.window.reference)} before;{' '}
        {formatCount(answer.window.needed)} are needed
      </p>
      <p>
        Mix of models <Badge tone={LEVEL[answer.arm_mix.level].tone}>{LEVEL[answer.arm_mix.level].word}</Badge>{' '}
        <span className="muted num" title={PSI}>
          PSI {answer.arm_mix.psi.toFixed(3)}
        </span>
      </p>
      {answer.window.recent < answer.window.needed ? (
        <p className="muted">There are too few decisions to tell whether features have moved.</p>
      ) : moved.length === 0 ? (
        <p>None of {answer.features.length} features has moved.</p>
      ) : (
        <ul className="list">
          {moved.map((feature) => (
            <li key={feature.name}>
              <Badge tone={LEVEL[feature.level].tone}>{LEVEL[feature.level].word}</Badge> {feature.name}{' '}
              <span className="muted num" title={PSI}>
                PSI {feature.psi.toFixed(3)}
              </span>
            </li>
          ))}
        </ul>
      )}
      <MeanWeight weight={answer.mean_weight} />
      {shifted.length === 0 ? (
        <p>No model's rewards have moved away from what was predicted.</p>
      ) : (
        <ul className="list">
          {shifted.map((one) => (
            <Shift key={one.model} one={one} />
          ))}
        </ul>
      )}
    </>
  );
}

/** One where decisions are drawn by the probabilities that are logged; every evaluation rests on it. */
function MeanWeight({ weight }: { weight: DriftAnswer['mean_weight'] }) {
  if (weight === undefined || weight.n === 0) return null;
  const { tone, word } = WEIGHT[weight.level];
  return (
    <p>
      Mean weight of {formatCount(weight.n)} decisions <Badge tone={tone}>{word}</Badge>{' '}
      <span
        className="muted num"
        title="Uniform over logged probability: its mean is 1 where decisions are drawn as they are logged. Off beyond four standard errors: the logged probabilities are wrong, and no evaluation of them is."
      >
        {weight.mean.toFixed(3)} ± {weight.error.toFixed(3)}
      </span>
    </p>
  );
}

/** What the rewards of one model did: an alarm for a fall, and where the newest ones begin to have another mean. */
function Shift({ one: { model, alarmed_at: alarmedAt, calibration, recent } }: { one: Reward }) {
  return (
    <li>
      <Badge tone={alarmedAt === undefined ? 'warn' : 'bad'}>
        {alarmedAt === undefined ? 'rewards changed' : 'rewards fell'}
      </Badge>{' '}
      {model}{' '}
      <span className="muted num">
        {alarmedAt === undefined ? '' : `last alarm at ${clockTime(alarmedAt)}; `}
        {recent === undefined || recent.cuts === 0
          ? ''
          : `another mean ${recent.cuts === 1 ? 'once' : `${formatCount(recent.cuts)} times`}${recent.cut_at === undefined ? '' : `, last at ${clockTime(recent.cut_at)}`}; `}
        {recent === undefined
          ? ''
          : `the newest ${formatCount(recent.n)} are ${signed(recent.calibration)} against the prediction, `}
        all {signed(calibration)}
      </span>
    </li>
  );
}
