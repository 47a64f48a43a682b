import { CallStarted, RouteDecision, systemClock, type RouterSnapshot } from '@sluice/contracts';
import {
  compileSnapshot,
  fitTextScorer,
  verifyDecision,
  verifyPredictions,
  type CompiledSnapshot,
} from '@sluice/routing';
import { createRandom } from '@sluice/routing/testing';
import { eventually } from '@sluice/testing';
import { interruptedEvent } from '../metering/usage-events.ts';
import { startGateway, type GatewayOptions, type GatewayUnderTest } from '../testing/gateway-under-test.ts';
import { LEARNED_MODELS, learnedPolicy, learnedSnapshot, withLearnedModels } from '../testing/learned-snapshot.ts';
import type { RawSnapshot } from '../testing/sample-snapshot.ts';
import {
  CHUNK_ROLE,
  CHUNK_STOP,
  contentChunk,
  DONE,
  scripts,
  startScriptedUpstream,
  type ScriptedUpstream,
} from '../testing/scripted-upstream.ts';

const ROLLOUT = '01JDZZZZZZZZZZZZZZZZZZZZZR';
let upstream: ScriptedUpstream;
let gateway: GatewayUnderTest | undefined;
beforeEach(async () => {
  upstream = await startScriptedUpstream(scripts.whole);
});
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  await upstream.close();
});

interface Given extends Partial<GatewayOptions> {
  routing?: object;
  published?: RouterSnapshot | null;
}

async function start({
  routing = {},
  published = learnedSnapshot(),
  change,
  ...more
}: Given = {}): Promise<GatewayUnderTest> {
  const compiled: CompiledSnapshot | undefined = published === null ? undefined : compileSnapshot(published);
  gateway = await startGateway({
    primary: upstream.url,
    snapshot: () => compiled,
    change: (raw) => {
      withLearnedModels(raw);
      const { policy } = raw.plans['team'] as { policy: { routing: object; limits: object } };
      policy.limits = {};
      Object.assign(raw.plans['team'] as object, { tenantLimits: {} });
      Object.assign(policy.routing, { features: {}, aliases: { smart: 'auto' }, ...routing });
      change?.(raw);
    },
    ...more,
  });
  return gateway;
}

const last = <T>(list: readonly T[]): T => list[list.length - 1] as T;

/** Sends a call to its end and gives what was recorded of it, with the headers of its answer. */
async function ask(body: object = {}, headers: Record<string, string> = {}) {
  const running = gateway as GatewayUnderTest;
  const before = running.settled.length;
  const response = await running.chat({ model: 'auto', ...body }, { headers });
  const text = await response.text();
  if (response.status === 200) await eventually(() => expect(running.settled.length).toBe(before + 1));
  const settled = last(running.settled);
  return { response, text, settled, decision: settled?.decision, header: (name: string) => response.headers.get(name) };
}

const spent = (raw: RawSnapshot, usd: number): void => {
  Object.assign((raw.tenants['acme'] as { limits: object }).limits, {
    quotas: [
      { id: 'money', meter: 'cost_nanousd', span: { kind: 'calendar', period: 'month' }, limit: usd, mode: 'soft' },
    ],
  });
};

describe('a call that leaves its model open', () => {
  it('goes to the model that the snapshot chooses; headers, event and bill agree on it', async () => {
    await start({ draw: () => 0.1 });
    const { settled, decision, header, response } = await ask();
    expect([response.status, decision?.base]).toEqual([200, 'sim-medium']);
    expect(RouteDecision.parse(JSON.parse(JSON.stringify(decision)))).toEqual(decision);
    expect(header('x-sluice-decision')).toBe(decision?.decision_id);
    expect(settled.decision_id).toBe(decision?.decision_id);
    expect([header('x-sluice-model'), settled.model, settled.model_requested]).toEqual([
      decision?.chosen,
      decision?.chosen,
      'auto',
    ]);
    expect(JSON.parse(last(upstream.requests).body)).toMatchObject({ model: `${decision?.chosen}-up` });
    const price = LEARNED_MODELS.find(({ id }) => id === decision?.chosen)?.price ?? 0;
    expect(settled.billed_nanousd).toBe((5 * price + 7 * 2 * price) / 1_000);
  });

  it('goes by the scores of its words where the published policy has a scorer, and its record gives them again', async () => {
    const [history, sums] = ['who ruled the empire of the treaty', 'invert the matrix of the theorem'];
    const scorer = fitTextScorer(
      {
        models: ['sim-small', 'sim-large'],
        prompts: [history, sums],
        qualities: [
          [0.95, 0.95],
          [0.05, 0.95],
        ],
      },
      { buckets: 512, penalty: 0.1 },
    );
    const control = learnedPolicy('v1', {
      rule: 'utility',
      reference_cost: 1_000_000,
      thresholds: { default: 0, features: {}, tenants: {} },
    });
    const features = {
      ...control.features,
      scorer: { id: '0123456789abcdef', strength: 1e9, scorer: JSON.parse(JSON.stringify(scorer)) },
    };
    const published = learnedSnapshot({ format: 2, control: { ...control, features } });
    await start({ published, draw: () => 0.5 });
    const bases: unknown[] = [];
    for (const content of [history, sums]) {
      const { decision } = await ask({ messages: [{ role: 'user', content }] });
      const record = decision as RouteDecision;
      bases.push(record.base);
      expect(verifyDecision(record).matches && verifyPredictions(record, compileSnapshot(published))?.matches).toBe(
        true,
      );
      expect(record).toMatchObject({
        rule: 'utility',
        reference_cost: 1_000_000,
        extractor: 'text/1+0123456789abcdef',
      });
    }
    expect(bases).toEqual(['sim-small', 'sim-large']);
  });

  it('is drawn as often as its record says, and each record gives its probabilities again, over 2,000 calls', async () => {
    const published = learnedSnapshot();
    // One after another by a seeded source: the same draws meet the same calls in each run.
    await start({ published, draw: createRandom(20_260_101) });
    const compiled = compileSnapshot(published);
    const texts = [
      'Hi',
      'Prove that 17 is prime, step by step.',
      'x'.repeat(3_000),
      'Translate: good morning!\nA) bonjour\nB) ciao',
      '```js\nfunction f() { return 1; }\n```',
    ];
    const calls = 2_000;
    const observed = new Map<string, number>();
    const expected = new Map<string, number>();
    let weights = 0;
    let squares = 0;
    for (let i = 0; i < calls; i += 1) {
      const answer = await (gateway as GatewayUnderTest).chat({
        model: i % 2 === 0 ? 'auto' : 'smart',
        messages: [{ role: 'user', content: texts[i % texts.length] }],
      });
      await answer.arrayBuffer();
    }
    await eventually(() => expect((gateway as GatewayUnderTest).settled).toHaveLength(calls));
    for (const { decision, model } of (gateway as GatewayUnderTest).settled) {
      const record = decision as RouteDecision;
      expect(record.chosen).toBe(model);
      expect(verifyDecision(record)).toEqual({ maxDifference: expect.any(Number), matches: true });
      expect(verifyDecision(record).maxDifference).toBeLessThanOrEqual(1e-12);
      expect(verifyPredictions(record, compiled)?.maxDifference).toBeLessThanOrEqual(1e-12);
      observed.set(record.chosen, (observed.get(record.chosen) ?? 0) + 1);
      for (const { model: arm, probability } of record.arms) expected.set(arm, (expected.get(arm) ?? 0) + probability);
      // The mean weight of the uniform policy must be 1 where the logged propensity is the true one.
      const weight = 1 / record.arms.filter(({ probability }) => probability > 0).length / record.propensity;
      weights += weight;
      squares += weight * weight;
    }
    const chiSquare = [...expected].reduce((sum, [arm, of]) => sum + ((observed.get(arm) ?? 0) - of) ** 2 / of, 0);
    // 99.9th percentile with 2 degrees of freedom; mixing different probabilities only makes the statistic smaller.
    expect(observed.size).toBe(3);
    expect(chiSquare).toBeLessThan(13.816);
    const mean = weights / calls;
    expect(Math.abs(mean - 1)).toBeLessThan(4 * Math.sqrt((squares / calls - mean * mean) / calls));
  }, 120_000);

  it('carries its decision in the head of a stream too, and in its refusal', async () => {
    await start();
    upstream.script = scripts.stream(CHUNK_ROLE, contentChunk('Hi'), CHUNK_STOP, DONE);
    const stream = await ask({ stream: true });
    expect(stream.header('x-sluice-decision')).toBe(stream.decision?.decision_id);
    upstream.script = scripts.status(500);
    const failed = await ask();
    expect([failed.response.status, failed.header('x-sluice-decision')]).toEqual([
      502,
      last((gateway as GatewayUnderTest).settled).decision_id,
    ]);
  });

  it('keeps its decision through the death of the gateway', async () => {
    await start();
    const { decision } = await ask();
    const started = CallStarted.parse(JSON.parse(JSON.stringify(last((gateway as GatewayUnderTest).started))));
    expect(interruptedEvent(started, systemClock)).toMatchObject({
      outcome: 'interrupted',
      decision_id: decision?.decision_id,
      decision,
    });
  });

  it('fails over to the next provider of the model that was chosen; the record keeps both', async () => {
    const second = await startScriptedUpstream(scripts.whole);
    try {
      await start({ second: second.url, draw: () => 0 });
      upstream.script = scripts.status(500);
      const { settled, decision, header } = await ask();
      expect([header('x-sluice-fallback'), settled.provider, settled.model]).toEqual([
        'true',
        'secondary',
        decision?.chosen,
      ]);
      expect(decision).toMatchObject({ base: 'sim-medium', chosen: 'sim-large' });
    } finally {
      await second.close();
    }
  });

  it('reserves what the dearest candidate would cost', async () => {
    await start();
    const { settled } = await ask();
    const reserved = last((gateway as GatewayUnderTest).started).reservation;
    expect(reserved.cost_nanousd).toBe(
      ((reserved.input_tokens * 20 + reserved.output_tokens * 40) * 1_000_000) / 1_000,
    );
    expect(settled.decision?.arms.map(({ cost_nanousd: cost }) => cost)).toEqual([
      reserved.cost_nanousd,
      reserved.cost_nanousd / 20,
      reserved.cost_nanousd / 5,
    ]);
  });

  it('never goes to a model that cannot answer it, and says why not in its record', async () => {
    const small = (raw: RawSnapshot): void => {
      Object.assign(raw.models['sim-small'] as object, { contextTokens: 100 });
      Object.assign(raw.models['sim-medium'] as object, { abilities: ['chat', 'tools'] });
      raw.killSwitches['k'] = { id: 'k', scope: 'model', target: 'sim-large', message: 'Off.' };
    };
    await start({ change: small });
    const { decision } = await ask({
      messages: [{ role: 'user', content: 'x'.repeat(2_000) }],
      tools: [{ type: 'function', function: { name: 'f' } }],
    });
    expect(decision).toMatchObject({
      chosen: 'sim-medium',
      propensity: 1,
      deterministic: 'single_candidate',
      evaluated: false,
    });
    const refused = await ask({
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:x' } }] }],
    });
    expect(refused.response.status).toBe(400);
    expect(JSON.parse(refused.text)).toMatchObject({
      error: { param: 'model', message: expect.stringContaining('sim-medium: cannot do images') },
    });
  });

  it('expects a model that was not used yet to answer as long as those that were', async () => {
    await start();
    await ask({ model: 'sim-large' });
    const { decision, settled } = await ask();
    const cost = Object.fromEntries(decision?.arms.map(({ model, cost_nanousd: nanousd }) => [model, nanousd]) ?? []);
    expect(settled.estimate.output_tokens).toBe(7);
    expect([cost['sim-large'], cost['sim-medium']]).toEqual([
      (cost['sim-small'] ?? 0) * 20,
      (cost['sim-small'] ?? 0) * 4,
    ]);
  });

  it('does not mention models that the key may not use', async () => {
    await start({ routing: { allowModels: ['sim-small', 'sim-medium'] } });
    expect((await ask()).decision?.arms.map(({ model }) => model).toSorted()).toEqual(['sim-medium', 'sim-small']);
  });

  it('asks more of the feature class that the policy asks more for', async () => {
    await start({
      published: learnedSnapshot({
        control: learnedPolicy('v1', { thresholds: { default: 0.75, features: { legal: 0.84 }, tenants: {} } }),
      }),
    });
    expect((await ask()).decision).toMatchObject({ base: 'sim-medium', threshold: { base: 0.75 } });
    expect((await ask({}, { 'x-sluice-feature': 'legal' })).decision).toMatchObject({
      base: 'sim-large',
      threshold: { base: 0.84 },
      feature_class: 'legal',
    });
  });

  it('of a tenant with hard traffic gets a better model, of one under pressure a lower bar, both explained', async () => {
    await start({ published: learnedSnapshot({ tenants: { acme: { difficulty: 0.8, pressure: 0 } } }) });
    expect((await ask()).decision?.threshold).toMatchObject({
      value: expect.closeTo(0.83, 9),
      difficulty: expect.closeTo(0.08, 9),
    });
    await (gateway as GatewayUnderTest).close();
    await start({ published: learnedSnapshot({ tenants: { acme: { difficulty: 0, pressure: 1 } } }) });
    expect((await ask()).decision).toMatchObject({ base: 'sim-small', threshold: { pressure: -0.1 } });
  });
});

describe('where nothing is learned', () => {
  it('the model of the highest tier answers, or the one that the policy names, recorded as no draw', async () => {
    await start({ published: null });
    expect((await ask()).decision).toMatchObject({
      chosen: 'sim-large',
      propensity: 1,
      deterministic: 'no_snapshot',
      evaluated: false,
    });
    await (gateway as GatewayUnderTest).close();
    await start({ published: null, routing: { defaultModel: 'sim-small' } });
    expect((await ask()).header('x-sluice-model')).toBe('sim-small');
  });

  it('a snapshot that cannot decide costs no request: the default answers, and it is counted', async () => {
    const broken = learnedSnapshot();
    broken.control.settings.floor = 0.5;
    await start({
      published: {
        ...broken,
        control: {
          ...broken.control,
          arms: broken.control.arms.map((arm) => ({ ...arm, theta: arm.theta.map(() => Number.NaN) })),
        },
      },
    });
    expect((await ask()).decision).toMatchObject({ deterministic: 'no_snapshot', chosen: 'sim-large' });
    expect((gateway as GatewayUnderTest).decisionFaults).toEqual([expect.stringContaining('not a number')]);
  });
});

describe('a learned workspace', () => {
  it('decides about models of the catalogue too, with the one that was named as the default', async () => {
    await start({ routing: { learned: true } });
    expect((await ask({ model: 'sim-small' })).decision).toMatchObject({ base: 'sim-medium', evaluated: true });
    await (gateway as GatewayUnderTest).close();
    await start({ routing: { learned: true }, published: null });
    expect((await ask({ model: 'sim-small' })).decision).toMatchObject({
      chosen: 'sim-small',
      deterministic: 'no_snapshot',
    });
  });

  it('never replaces a pin or what a rule says: propensity 1, marked, left out of evaluation', async () => {
    await start({ routing: { learned: true, features: { summary: { model: 'sim-small' } } } });
    const pin = await ask({ model: 'primary/sim-large' });
    expect(pin.decision).toMatchObject({ chosen: 'sim-large', propensity: 1, deterministic: 'pin', evaluated: false });
    expect(pin.header('x-sluice-decision')).toBe(pin.decision?.decision_id);
    expect((await ask({}, { 'x-sluice-feature': 'summary' })).decision).toMatchObject({
      chosen: 'sim-small',
      deterministic: 'rule',
    });
  });
});

it('a call whose model is given has no decision, in its headers or its record', async () => {
  await start();
  const { decision, settled, header } = await ask({ model: 'sim-small' });
  expect([decision, settled.decision_id, header('x-sluice-decision'), header('x-sluice-downgrade')]).toEqual([
    undefined,
    undefined,
    null,
    null,
  ]);
});

describe('near the end of a money quota', () => {
  const budgetDowngrade = { atPercent: 80, model: 'sim-small' };

  it('the cheaper model of the policy answers, and the answer says so', async () => {
    await start({ routing: { budgetDowngrade }, change: (raw) => spent(raw, 1) });
    const { header, settled, decision } = await ask({ model: 'sim-large' });
    expect([header('x-sluice-model'), header('x-sluice-downgrade'), settled.model, decision]).toEqual([
      'sim-small',
      'budget',
      'sim-small',
      undefined,
    ]);
    expect(settled.billed_nanousd).toBe(5 * 1_000 + 7 * 2_000);
  });

  it('it does not before that, for a pin, for a model that is no dearer, or where it could not answer', async () => {
    await start({ routing: { budgetDowngrade }, change: (raw) => spent(raw, 1e12) });
    expect((await ask({ model: 'sim-large' })).header('x-sluice-model')).toBe('sim-large');
    await (gateway as GatewayUnderTest).close();
    await start({
      routing: { budgetDowngrade: { ...budgetDowngrade, model: 'sim-medium' } },
      change: (raw) => spent(raw, 1),
    });
    expect((await ask({ model: 'primary/sim-large' })).header('x-sluice-model')).toBe('sim-large');
    expect((await ask({ model: 'sim-small' })).header('x-sluice-downgrade')).toBeNull();
    expect(
      (await ask({ model: 'sim-large', tools: [{ type: 'function', function: { name: 'f' } }] })).header(
        'x-sluice-model',
      ),
    ).toBe('sim-large');
  });

  it('an open choice is a rule then, or by the learned policy a lower bar', async () => {
    await start({ routing: { budgetDowngrade }, change: (raw) => spent(raw, 1) });
    const ruled = await ask();
    expect([
      ruled.decision?.deterministic,
      ruled.header('x-sluice-model'),
      ruled.header('x-sluice-downgrade'),
      ruled.header('x-sluice-decision'),
    ]).toEqual(['rule', 'sim-small', 'budget', ruled.decision?.decision_id]);
    await (gateway as GatewayUnderTest).close();
    await start({ change: (raw) => spent(raw, 1) });
    const learned = await ask();
    expect([learned.decision?.base, learned.decision?.threshold.budget, learned.header('x-sluice-downgrade')]).toEqual([
      'sim-small',
      -0.25,
      'budget',
    ]);
  });
});

describe('a rollout', () => {
  const rollout = (stage: 'shadow' | 'canary_25', weight: number): RouterSnapshot =>
    learnedSnapshot({
      candidate: {
        rollout_id: ROLLOUT,
        stage,
        weight,
        policy: learnedPolicy('v2', { thresholds: { default: 0.3, features: {}, tenants: {} } }),
      },
    });

  it('in its shadow decides nothing, and what it would have done is recorded beside', async () => {
    await start({ published: rollout('shadow', 0) });
    for (let i = 0; i < 10; i += 1) {
      const { settled, decision } = await ask();
      expect(decision).toMatchObject({ policy_version: 'v1', base: 'sim-medium', rollout: { variant: 'control' } });
      expect(settled.shadow).toMatchObject({
        rollout_id: ROLLOUT,
        policy_version: 'v2',
        base: 'sim-small',
        served_probability: expect.any(Number),
      });
    }
  });

  it('gives the candidate its share of calls, and one end user always the same policy', async () => {
    await start({ published: rollout('canary_25', 0.25) });
    const variants = new Map<string, Set<unknown>>();
    for (let i = 0; i < 120; i += 1) {
      const user = `user-${i % 40}`;
      const { decision, settled } = await ask({ user });
      expect([decision?.rollout?.weight, settled.shadow]).toEqual([0.25, undefined]);
      variants.set(user, (variants.get(user) ?? new Set()).add(decision?.policy_version));
    }
    expect([...variants.values()].every((seen) => seen.size === 1)).toBe(true);
    const candidates = [...variants.values()].filter((seen) => seen.has('v2')).length;
    // 10 of 40 are expected; users' draws are fixed by their names.
    expect(candidates).toBeGreaterThan(4);
    expect(candidates).toBeLessThan(17);
  });
});
