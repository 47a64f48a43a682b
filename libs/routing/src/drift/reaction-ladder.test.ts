import fc from 'fast-check';
import {
  DETECTIONS_NEEDED,
  DRIFT_SOURCES,
  FRESH_AFTER,
  heightOf,
  holdReaction,
  NO_REACTION,
  observeDrift,
  REACTION_STEPS,
  reactionEffects,
  releaseReaction,
  SOURCE_CEILING,
  stepOf,
  type DriftSource,
  type DriftVerdict,
  type LadderOptions,
  type Reaction,
  type ReactionState,
} from './reaction-ladder.ts';

const OPTIONS: LadderOptions = {
  highest: 'rollback',
  canRollBack: true,
  dwellMs: 1_000,
  quietMs: 10_000,
  quietRewards: 50,
};
const verdict = (seen: number, source: DriftSource = 'calibration', stream = 'arm:large'): DriftVerdict => ({
  source,
  stream,
  subject: stream.replace('arm:', ''),
  seen,
  value: -0.2,
  limit: 0.05,
});

/** Feeds new evidence of one model until the ladder has taken so many steps. */
function climbed(
  steps: number,
  options = OPTIONS,
): { state: ReactionState; nowMs: number; seen: number; detections: number } {
  let at = { state: NO_REACTION as ReactionState, nowMs: 0, seen: 0, detections: 0 };
  while (heightOf(stepOf(at.state)) < steps && at.detections < 100) {
    const [nowMs, seen] = [at.nowMs + 1_000, at.seen + 100];
    at = {
      state: observeDrift(at.state, { verdicts: [verdict(seen)], rewards: seen, nowMs }, options).state,
      nowMs,
      seen,
      detections: at.detections + 1,
    };
  }
  return at;
}

describe('the ladder of reactions', () => {
  it('takes its steps in their order, each after as many detections as are stated', () => {
    let needed = 0;
    for (const [i, step] of (
      ['alert', 'explore', 'forget_slowly', 'forget', 'freeze', 'rollback'] as const
    ).entries()) {
      needed += DETECTIONS_NEEDED[step];
      expect([stepOf(climbed(i + 1).state), climbed(i + 1).detections]).toEqual([step, needed]);
    }
  });

  it('takes the same verdict for one detection however often it is told', () => {
    let { state } = climbed(1);
    for (let i = 1; i < 50; i += 1)
      state = observeDrift(
        state,
        { verdicts: [verdict(150), verdict(130, 'reward_fall')], rewards: 100, nowMs: i * 1_000 },
        OPTIONS,
      ).state;
    expect(stepOf(state)).toBe('alert');
    expect(stepOf(observeDrift(state, { verdicts: [verdict(200)], rewards: 200, nowMs: 60_000 }, OPTIONS).state)).toBe(
      'explore',
    );
  });

  it('goes no further than a source proves', () => {
    const steps = Object.fromEntries(
      DRIFT_SOURCES.map((source) => {
        let state = NO_REACTION;
        for (let i = 1; i < 50; i += 1)
          state = observeDrift(
            state,
            { verdicts: [verdict(i * 1_000, source, source)], rewards: 0, nowMs: i * 1_000 },
            OPTIONS,
          ).state;
        return [source, stepOf(state)];
      }),
    );
    expect(steps).toEqual({
      reward_fall: 'rollback',
      reward_change: 'rollback',
      calibration: 'rollback',
      features: 'explore',
      arm_mix: 'alert',
      weights: 'alert',
    });
  });

  it('comes down one step at a time after quiet, and not by silence alone', () => {
    let { state, nowMs, seen } = climbed(4);
    expect(observeDrift(state, { verdicts: [], rewards: seen + 49, nowMs: nowMs + 1e9 }, OPTIONS).state).toBe(state);
    expect(observeDrift(state, { verdicts: [], rewards: 1e9, nowMs: nowMs + 9_999 }, OPTIONS).state).toBe(state);
    for (const step of ['forget_slowly', 'explore', 'alert', 'watching']) {
      const next = observeDrift(state, { verdicts: [], rewards: (seen += 50), nowMs: (nowMs += 10_000) }, OPTIONS);
      expect(next.change).toMatchObject({ kind: 'down', to: step, why: 'no detection for 10 s and 50 rewards' });
      state = next.state;
    }
    expect(observeDrift(state, { verdicts: [], rewards: 1e9, nowMs: 1e12 }, OPTIONS).change).toBeUndefined();
  });

  it('is moved by nothing while a person holds it, and goes on from there when released', () => {
    const held = holdReaction(climbed(2).state, {
      step: 'freeze',
      actor: 'ada',
      reason: 'the judge is broken',
      nowMs: 5_000,
    });
    expect(held.change).toMatchObject({ kind: 'held', from: 'explore', to: 'freeze' });
    let state = held.state;
    for (let i = 10; i < 60; i += 1)
      state = observeDrift(
        state,
        { verdicts: [verdict(i * 100)], rewards: i * 100, nowMs: i * 1e6 },
        { ...OPTIONS, highest: i % 2 === 0 ? 'rollback' : 'watching' },
      ).state;
    expect(state).toMatchObject({ mode: 'held', step: 'freeze' });
    const released = releaseReaction(state, { reason: 'mended', rewards: 6_000, nowMs: 6e7 });
    expect(released?.state).toMatchObject({ mode: 'reacting', step: 'freeze', quietSinceMs: 6e7 });
    expect(
      releaseReaction(released?.state as ReactionState, { reason: 'again', rewards: 0, nowMs: 0 }),
    ).toBeUndefined();
  });

  it('ends at freeze where there is nothing to roll back to, and comes down at once where less is allowed', () => {
    expect(stepOf(climbed(6, { ...OPTIONS, canRollBack: false }).state)).toBe('freeze');
    const down = observeDrift(
      climbed(5).state,
      { verdicts: [], rewards: 0, nowMs: 0 },
      { ...OPTIONS, highest: 'alert' },
    );
    expect(down).toMatchObject({ state: { step: 'alert' }, change: { kind: 'limited', from: 'freeze', to: 'alert' } });
    expect(
      observeDrift(
        NO_REACTION,
        { verdicts: [verdict(1_000)], rewards: 0, nowMs: 0 },
        { ...OPTIONS, highest: 'watching' },
      ),
    ).toEqual({ state: NO_REACTION });
  });

  it('costs nothing at first, forgets before it freezes, and explores only what it learns from', () => {
    expect(REACTION_STEPS.map((step) => Object.values(reactionEffects(step)))).toEqual([
      [1, 1, 1, false],
      [1, 1, 1, false],
      [0.7, 1.5, 1, false],
      [0.7, 1.5, 0.999, false],
      [0.7, 1.5, 0.99, false],
      [1, 1, 1, true],
      [1, 1, 1, true],
    ]);
  });
});

/** What may happen to a ladder. */
type Deed =
  | { readonly kind: 'verdict'; readonly source: DriftSource; readonly model: number; readonly more: number }
  | { readonly kind: 'wait'; readonly ms: number; readonly rewards: number }
  | { readonly kind: 'hold'; readonly step: 'watching' | 'alert' | 'explore' | 'freeze' }
  | { readonly kind: 'release' }
  | { readonly kind: 'allow'; readonly highest: Reaction | 'watching'; readonly canRollBack: boolean };
const deed: fc.Arbitrary<Deed> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('verdict' as const),
      source: fc.constantFrom(...DRIFT_SOURCES),
      model: fc.integer({ min: 0, max: 2 }),
      more: fc.integer({ min: 0, max: 1_200 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.integer({ min: 0, max: 12_000 }),
      rewards: fc.integer({ min: 0, max: 80 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('hold' as const),
      step: fc.constantFrom('watching' as const, 'alert' as const, 'explore' as const, 'freeze' as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'release' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('allow' as const),
      highest: fc.constantFrom(...REACTION_STEPS),
      canRollBack: fc.boolean(),
    }),
  },
);

it('whatever happens: one step at a time, up by new evidence after the dwell, down by quiet, and as a plain model of it says', () => {
  fc.assert(
    fc.property(fc.array(deed, { maxLength: 120 }), (deeds) => {
      let state = NO_REACTION;
      let options = OPTIONS;
      let [nowMs, rewards] = [0, 0];
      const seen = new Map<string, number>();
      /** The model: heights and times alone. */
      const model = {
        height: 0,
        held: false,
        since: 0,
        quiet: 0,
        quietFrom: 0,
        detections: 0,
        counted: new Map<string, number>(),
      };
      const rest = (height: number): void =>
        void Object.assign(model, { height, since: nowMs, quiet: nowMs, quietFrom: rewards, detections: 0 });

      function modelled(told: DriftVerdict | undefined): void {
        const top = heightOf(options.highest);
        if (!model.held && model.height > top) return rest(top);
        const last = told === undefined ? undefined : model.counted.get(told.stream);
        const fresh = told !== undefined && (last === undefined || told.seen - last >= FRESH_AFTER[told.source]);
        if (!model.held && top === 0) return;
        if (fresh) model.counted.set(told.stream, told.seen);
        if (model.held) return;
        const ceiling = fresh ? heightOf(SOURCE_CEILING[told.source]) : -1;
        if (ceiling > model.height) {
          model.detections += 1;
          const next = model.height + 1;
          const rested = model.height === 0 || nowMs - model.since >= options.dwellMs;
          if (
            rested &&
            next <= top &&
            (next < 6 || options.canRollBack) &&
            model.detections >= DETECTIONS_NEEDED[REACTION_STEPS[next] as Reaction]
          )
            return rest(next);
          if (model.height === 0) model.detections = 0;
        }
        if (model.height === 0) return;
        if (ceiling >= model.height) Object.assign(model, { quiet: nowMs, quietFrom: rewards });
        else if (nowMs - model.quiet >= options.quietMs && rewards - model.quietFrom >= options.quietRewards)
          rest(model.height - 1);
      }

      for (const one of deeds) {
        let told: DriftVerdict | undefined;
        if (one.kind === 'wait') {
          nowMs += one.ms;
          rewards += one.rewards;
        } else if (one.kind === 'allow') options = { ...options, highest: one.highest, canRollBack: one.canRollBack };
        else if (one.kind === 'hold') {
          state = holdReaction(state, { step: one.step, actor: 'ada', reason: 'because', nowMs }).state;
          Object.assign(model, { held: true, height: heightOf(one.step) });
        } else if (one.kind === 'release') {
          const released = releaseReaction(state, { reason: 'because', rewards, nowMs });
          expect(released !== undefined).toBe(model.held);
          state = released?.state ?? state;
          if (model.held) rest(model.height);
          model.held = false;
        } else {
          const stream = SOURCE_CEILING[one.source] === 'rollback' ? `arm:${one.model}` : one.source;
          seen.set(stream, (seen.get(stream) ?? 0) + one.more);
          told = verdict(seen.get(stream) as number, one.source, stream);
        }
        const before = stepOf(state);
        const { state: next, change } = observeDrift(
          state,
          { verdicts: told === undefined ? [] : [told], rewards, nowMs },
          options,
        );
        modelled(told);
        expect([stepOf(next), next.mode === 'held']).toEqual([REACTION_STEPS[model.height], model.held]);
        expect(change === undefined).toBe(stepOf(next) === before);
        if (change !== undefined && change.kind !== 'limited')
          expect(Math.abs(heightOf(change.to) - heightOf(before))).toBe(1);
        if (change?.kind === 'up') expect(change.evidence).toHaveLength(1);
        // Whatever is kept comes back from a journal.
        state = JSON.parse(JSON.stringify(next)) as ReactionState;
      }
    }),
    { numRuns: 400 },
  );
});
