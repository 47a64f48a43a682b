import { systemClock } from '@sluice/contracts';
import {
  compileSnapshot,
  decideFromSnapshot,
  DEFAULT_FEATURES,
  DEFAULT_SETTINGS,
  promptText,
  RidgeArm,
  textFeatures,
  untrainedSnapshot,
  type SnapshotRequest,
} from '@sluice/routing';
import { createIds } from '@sluice/service-kit';
import type { Call, OpenCandidate } from '../call.ts';
import { createChooseModel, type OpenChoice } from '../router/choose-model.ts';
import { createRouteStage } from '../stages/route/route.ts';

/** What choosing a model costs: nine models, sixteen features and the bias, a prompt of 8 kB. */
const ARMS = 9;
const ROUNDS = 20_000;
const WARM_UP = 5_000;
const UPDATES = 1_000_000;
const models = Array.from({ length: ARMS }, (_, i) => `model-${i}`);
const dimension = DEFAULT_FEATURES.names.length + 1;

let state = 1;
const random = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;

const words = [
  'explain',
  'why',
  'the',
  'return',
  'value',
  '17',
  'prime,',
  'not',
  'x = y + 3;',
  'Übersetze',
  'step by step',
  '\n',
  '(b) ',
  'configuration',
];
let text = '';
while (text.length < 8_192) text += `${words[Math.floor(random() * words.length)]} `;
text = text.slice(0, 8_192);
const body = {
  model: 'auto',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: text },
  ],
};

const contexts = Array.from({ length: 1_000 }, () => [1, ...DEFAULT_FEATURES.names.map(() => 2 * random() - 1)]);
const arms = models.map((model, k) => {
  const arm = RidgeArm.withPrior(new Array<number>(dimension).fill(0), 10);
  for (let i = 0; i < 500; i += 1)
    arm.update(contexts[(i * 7 + k) % contexts.length] as number[], 0.5 + 0.05 * k + 0.1 * (random() - 0.5));
  return { model, theta: [...arm.theta], inverse: arm.state.aInverse, n: 500, mean_latency_ms: 100 + 50 * k };
});
const empty = untrainedSnapshot({
  snapshotId: '01JDZZZZZZZZZZZZZZZZZZZZZZ',
  createdAt: '2026-06-01T00:00:00.000Z',
  models: [],
});
const compiled = compileSnapshot({
  ...empty,
  control: { ...empty.control, settings: DEFAULT_SETTINGS, gamma: 60, arms },
});
const features = textFeatures(text);
const request: SnapshotRequest = {
  decisionId: '01JDZZZZZZZZZZZZZZZZZZZZZZ',
  tenant: 'acme',
  features,
  candidates: models.map((model, k) => ({ model, costNanoUsd: 1_000 * (k + 1) })),
  u: 0,
  variantDraw: 0,
};

measure('text and features of 8 kB', 'target p99 < 200 µs', () => void textFeatures(promptText(body)));
measure(
  `a decision, ${ARMS} models, ${dimension} numbers`,
  'target p50 < 15, p99 < 100 µs',
  () => void decideFromSnapshot(compiled, { ...request, u: random() }),
);

const scorer = {
  kind: 'hashed-ridge' as const,
  models,
  buckets: 16_384,
  scale: { mean: DEFAULT_FEATURES.mean, sd: DEFAULT_FEATURES.sd },
  offset: models.map(() => 0.5),
  features: new Array<number>(dimension * ARMS).fill(0.001),
  steps: models.map(() => 1e-6),
  grams: Buffer.from(Array.from({ length: 16_384 * ARMS * 2 }, (_, i) => (i * 31) & 0xff)).toString('base64'),
};
const scored = compileSnapshot({
  ...empty,
  format: 2,
  control: {
    ...empty.control,
    settings: { ...DEFAULT_SETTINGS, rule: 'utility', reference_cost: 5_000 },
    gamma: 60,
    arms,
    features: { ...DEFAULT_FEATURES, scorer: { id: '0123456789abcdef', strength: 1_000, scorer } },
  },
});
const scoredFeatures = scored.extractor.extract(text);
const short = text.slice(0, 500);
measure(
  'features and scores of 8 kB',
  'the scores come on top of the features',
  () => void scored.extractor.extract(text),
);
measure('features and scores of 500 characters', '', () => void scored.extractor.extract(short));
measure(
  'a decision by scores, features at hand',
  'target p99 < 100 µs',
  () => void decideFromSnapshot(scored, { ...request, features: scoredFeatures, u: random() }),
);

const choice = {
  kind: 'open',
  candidates: models.map((id) => ({ model: { id } })) as unknown as readonly [OpenCandidate, ...OpenCandidate[]],
  excluded: [],
  costs: models.map((_, k) => 1_000 * (k + 1)),
} satisfies OpenChoice;
const ids = createIds({ clock: systemClock });
const choose = createChooseModel({
  current: () => compiled,
  decisionId: ids.ulid,
  random,
  onFault: (reason) => {
    throw new Error(reason);
  },
});
const key = {
  workspace: { workspace: { uuid: 'w', slug: 'acme-prod' }, tenant: { id: 'acme' }, policy: { routing: {} } },
};
const call = { key, resolved: { feature: undefined, endUser: undefined, inbound: { body } } } as unknown as Call;
measure('the whole choice, text to record', '', () => void choose(call, choice, 0));

const stage = createRouteStage({
  clock: systemClock,
  planner: {
    planFor: () => {
      throw new Error('not asked');
    },
  },
  decisionId: ids.ulid,
  chooseModel: choose,
});
const given = { key, resolved: { plan: {}, choice: undefined } } as unknown as Call;
const passes: number[] = [];
for (let round = 0; round < 9; round += 1) {
  const startedAt = performance.now();
  for (let i = 0; i < 1_000_000; i += 1) void stage.run(given);
  passes.push(performance.now() - startedAt);
}
passes.sort((a, b) => a - b);
console.log(
  `${'a call whose model is given'.padEnd(44)} median ${passes[4]?.toFixed(1)} ns for the stage  (9 rounds of 1e6)`,
);

const learner = RidgeArm.withPrior(new Array<number>(dimension).fill(0), 1);
const startedAt = performance.now();
for (let i = 0; i < UPDATES; i += 1) learner.update(contexts[i % contexts.length] as number[], random());
console.log(
  `${'1e6 updates of one model'.padEnd(44)} ${((performance.now() - startedAt) / 1000).toFixed(1)} s, residual ${learner.residual.toExponential(1)}  (target < 30 s, residual < 1e-6)`,
);

/**
 * Times one operation by the wall clock, again and again, after a warm-up; its mean CPU time is what a busy machine
 * does not change much.
 */
function measure(name: string, target: string, work: () => void): void {
  for (let i = 0; i < WARM_UP; i += 1) work();
  const times = new Float64Array(ROUNDS);
  const before = process.cpuUsage();
  for (let i = 0; i < ROUNDS; i += 1) {
    const from = performance.now();
    work();
    times[i] = (performance.now() - from) * 1000;
  }
  const { user, system } = process.cpuUsage(before);
  times.sort();
  const at = (share: number): string => (times[Math.floor(ROUNDS * share)] as number).toFixed(1).padStart(6);
  console.log(
    `${name.padEnd(44)} p50 ${at(0.5)}  p99 ${at(0.99)}  max ${(times[ROUNDS - 1] as number).toFixed(0).padStart(6)} µs, CPU ${((user + system) / ROUNDS).toFixed(1)} µs  (${ROUNDS.toLocaleString('en-US')} times) ${target}`,
  );
}
