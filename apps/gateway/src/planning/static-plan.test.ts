import type { InboundCall, Model } from '@sluice/contracts';
import { createAdapterRegistry } from '@sluice/providers';
import type { CompiledWorkspace } from '../compiled-config.ts';
import { compiledSample } from '../testing/compiled-sample.ts';
import type { RawSnapshot } from '../testing/sample-snapshot.ts';
import { isPlanRefusal, staticPlan } from './static-plan.ts';

const adapters = createAdapterRegistry().get;
const policyOf = (raw: RawSnapshot) =>
  (raw.plans.team as { policy: Record<string, unknown> & { routing: Record<string, unknown> } }).policy;

/** The places of the plan, or the refusal's code. */
function places(change: (raw: RawSnapshot) => void, { models = ['sim-small'], pinned = false } = {}): string[] {
  const config = compiledSample((raw) => {
    Object.assign(raw.providers.secondary as object, { dialect: 'openai' });
    change(raw);
  });
  const candidates = models.map((id) => config.models.get(id)) as unknown as [Model, ...Model[]];
  const inbound = { operation: 'chat', body: {}, stream: false } as unknown as InboundCall;
  const plan = staticPlan(
    config,
    config.workspaces.get('acme-prod') as CompiledWorkspace,
    { inbound, candidates, pinned, feature: undefined },
    adapters,
  );
  return isPlanRefusal(plan) ? [plan.code] : plan.entries.map(({ provider, model }) => `${provider.id}/${model}`);
}

describe('a plan by rule', () => {
  it('goes through the chain in its order', () => {
    expect(places(() => undefined)).toEqual(['primary/sim-small', 'secondary/sim-small']);
  });

  it('tries one place once, however many candidate models lead to it', () => {
    const chain = (raw: RawSnapshot) =>
      void (policyOf(raw).routing.chain = [{ provider: 'primary' }, { provider: 'secondary', model: 'sim-large' }]);
    expect(places(chain, { models: ['sim-small', 'unpriced'] })).toEqual([
      'primary/sim-small',
      'secondary/sim-large',
      'primary/unpriced',
    ]);
  });

  it('never goes past the first place for a pinned model or under a contract that forbids a fallback', () => {
    expect(places(() => undefined, { pinned: true })).toEqual(['primary/sim-small']);
    expect(places((raw) => void (policyOf(raw).dataRules = { noFallback: true }))).toEqual(['primary/sim-small']);
  });

  it.each([
    [
      'disabled',
      (raw: RawSnapshot) => void Object.assign(raw.providers.primary as object, { enabled: false }),
      'model_not_found',
    ],
    [
      'switched off',
      (raw: RawSnapshot) =>
        void (raw.killSwitches.stop = { id: 'stop', scope: 'provider', target: 'primary', message: 'Maintenance.' }),
      'kill_switch',
    ],
  ])('falls back to nobody under such a contract while the first place is %s', (_how, off, code) => {
    expect(places(off)).toEqual(['secondary/sim-small']);
    expect(
      places((raw) => {
        off(raw);
        policyOf(raw).dataRules = { noFallback: true };
      }),
    ).toEqual([code]);
  });
});
