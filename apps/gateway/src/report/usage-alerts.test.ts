import { createFakeClock, eventually } from '@sluice/testing';
import { startGateway } from '../testing/gateway-under-test.ts';
import { SAMPLE_KEYS, type RawSnapshot } from '../testing/sample-snapshot.ts';
import { scripts, startScriptedUpstream, WHOLE, type ScriptedUpstream } from '../testing/scripted-upstream.ts';
import type { Call, CallFigures } from '../call.ts';
import type { FoundAnomaly } from './publish-anomaly.ts';
import { createUsageAlerts } from './usage-alerts.ts';

const ABSURD = WHOLE.replace('"prompt_tokens":5,"completion_tokens":7', '"prompt_tokens":1e9,"completion_tokens":1e9');
const LIMITS = {
  tokens: { perMinute: 60_000 },
  quotas: [
    { id: 'month', meter: 'total_tokens', span: { kind: 'calendar', period: 'month' }, limit: 100_000, mode: 'hard' },
  ],
};

/** Two tenants whose calls are counted without sense, and one beside them at the same account. */
function threeTenants(raw: RawSnapshot): void {
  raw.tenants.initech = { ...raw.tenants.acme, id: 'initech', name: 'initech' };
  raw.workspaces['initech-prod'] = {
    ...raw.workspaces['acme-prod'],
    slug: 'initech-prod',
    tenant: 'initech',
    uuid: '00000000-0000-4000-8000-000000000009',
  };
  Object.assign(raw.keys.narrowkey01 as object, { workspace: 'initech-prod', allowModels: ['sim-small'] });
  for (const id of ['acme', 'globex', 'initech']) Object.assign(raw.tenants[id] as object, { limits: LIMITS });
}

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startScriptedUpstream((response, request, body) =>
    (body.includes('absurd') ? scripts.status(200, ABSURD) : scripts.whole)(response, request, body),
  );
});
afterAll(() => upstream.close());

it("counts that cannot be lock nobody out, are nobody else's bill, and are told once", async () => {
  const gateway = await startGateway({ primary: upstream.url, change: threeTenants });
  const told: FoundAnomaly[] = [];
  const clock = createFakeClock();
  const alert = createUsageAlerts({ clock, publish: (anomaly) => told.push(anomaly) });
  try {
    const ask = async (key: string, content: string) => {
      const answer = await gateway.chat(
        { messages: [{ role: 'user', content }] },
        { headers: { authorization: `Bearer ${key}` } },
      );
      await answer.text();
      return answer.status;
    };
    for (let round = 0; round < 10; round += 1) {
      expect(await ask(SAMPLE_KEYS.acme, 'absurd')).toBe(200);
      expect(await ask(SAMPLE_KEYS.narrow, 'absurd')).toBe(200);
      expect(await ask(SAMPLE_KEYS.globex, 'sense')).toBe(200);
    }
    await eventually(() => expect(gateway.ends).toHaveLength(30));
    for (const event of gateway.settled) {
      if (event.tenant_id === 'globex')
        expect(event).toMatchObject({
          usage_source: 'provider',
          billed_nanousd: 5 * 1_000 + 7 * 2_000,
          usage: { input: 5, output: 7 },
        });
      else {
        expect(event).toMatchObject({ usage_source: 'bounded', attempts: [{ usage_source: 'bounded' }] });
        expect(event.usage.input + event.usage.output).toBeLessThan(100);
      }
    }
    gateway.ends.forEach(({ figures }, i) => alert(gateway.calls[i] as Call, figures as CallFigures));
    expect(told).toMatchObject([{ type: 'usage.implausible', level: 'provider', subject: 'primary/sim-small' }]);
    const again = gateway.ends.findIndex(({ figures }) => figures?.usageSource === 'bounded');
    clock.advance(599_999);
    alert(gateway.calls[again] as Call, gateway.ends[again]?.figures as CallFigures);
    expect(told).toHaveLength(1);
    clock.advance(600_000);
    alert(gateway.calls[again] as Call, gateway.ends[again]?.figures as CallFigures);
    expect(told).toHaveLength(2);
  } finally {
    await gateway.close();
  }
});

it('use without a price is told once for each price that lacks it', () => {
  const told: FoundAnomaly[] = [];
  const alert = createUsageAlerts({ clock: createFakeClock(), publish: (anomaly) => told.push(anomaly) });
  const call = { id: 'req_1', answer: { attempt: { provider: { id: 'p' }, model: 'm' } } } as unknown as Call;
  const what = "the service tier 'priority'";
  const figures = {
    usageSource: 'provider',
    unpriced: [
      { what, of: "the plan's price of m" },
      { what, of: "p's offer of m" },
    ],
  } as unknown as CallFigures;
  for (let i = 0; i < 3; i += 1) alert(call, figures);
  expect(told.map(({ type, subject }) => [type, subject])).toEqual([
    ['price.missing', "the plan's price of m"],
    ['price.missing', "p's offer of m"],
  ]);
  expect(told[0]?.message).toContain(what);
});
