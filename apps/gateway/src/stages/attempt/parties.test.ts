import { createHash } from 'node:crypto';
import { startGateway, chatBody, type GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { SAMPLE_KEYS, type RawSnapshot } from '../../testing/sample-snapshot.ts';
import { scripts, startScriptedUpstream, type Script } from '../../testing/scripted-upstream.ts';

const HEALTHY = SAMPLE_KEYS.acme;
const ATTACKERS = [SAMPLE_KEYS.globex, 'sk-sluice-initechkey-gggggggggggggggggggggggggggggggg'];
const HEALTHY_MARKER = '00000000-0000-4000-8000-000000000001';

/** A third tenant beside acme and globex, and breakers that open soon. */
function threeTenants(raw: RawSnapshot): void {
  const text = ATTACKERS[1] as string;
  const keyId = text.split('-')[2] as string;
  raw.tenants.initech = { ...raw.tenants.globex, id: 'initech', name: 'initech' };
  raw.workspaces['initech-prod'] = {
    slug: 'initech-prod',
    uuid: '00000000-0000-4000-8000-000000000009',
    tenant: 'initech',
  };
  raw.keys[keyId] = {
    ...raw.keys.globexkey01,
    keyId,
    digest: createHash('sha256').update(text).digest('hex'),
    workspace: 'initech-prod',
  };
  Object.assign(raw.providers.primary as object, { breaker: { minimumCalls: 5, cooldownMs: 60_000 } });
}

async function send(gateway: GatewayUnderTest, key: string): Promise<Response> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: chatBody(),
  });
  await answer.text();
  return answer;
}

/** The provider serves acme and answers the others with 500, as it would for requests that it cannot digest. */
const servesAcmeAlone: Script = (response, request, body) => {
  const own = request.rawHeaders.includes(HEALTHY_MARKER);
  (own ? scripts.whole : scripts.status(500))(response, request, body);
};

async function withTwoAttackers(
  act: (gateway: GatewayUnderTest, sentBy: () => number) => Promise<void>,
  script: Script = servesAcmeAlone,
): Promise<void> {
  const upstream = await startScriptedUpstream(script);
  const second = await startScriptedUpstream(scripts.whole);
  const gateway = await startGateway({ primary: upstream.url, second: second.url, change: threeTenants });
  try {
    await act(gateway, () => upstream.requests.filter(({ headers }) => headers.includes(HEALTHY_MARKER)).length);
  } finally {
    await gateway.close();
    await upstream.close();
    await second.close();
  }
}

const breakerOf = (gateway: GatewayUnderTest) =>
  gateway.breakers.report().find(({ provider }) => provider === 'primary');

describe('two tenants whose calls the provider fails, beside one that is served', () => {
  it('open the breaker for themselves, and each call of the third is answered by the first of its chain', async () => {
    await withTwoAttackers(async (gateway, sentForHealthy) => {
      const answers: Response[] = [];
      for (let round = 0; round < 30; round += 1) {
        answers.push(await send(gateway, HEALTHY));
        for (const attacker of ATTACKERS) expect((await send(gateway, attacker)).status).toBe(200);
      }
      expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(200));
      expect(answers.map(({ headers }) => headers.get('x-sluice-provider'))).toEqual(Array(30).fill('primary'));
      expect(sentForHealthy()).toBe(30);
      const refused = await send(gateway, ATTACKERS[0] as string);
      expect(refused.headers.get('x-sluice-fallback-reason')).toBe('breaker_open');
      expect(breakerOf(gateway)).toMatchObject({ tenants: 3, tenants_open: 2 });
      expect(breakerOf(gateway)?.open_for.toSorted()).toEqual(['globex', 'initech']);
    });
  });

  it('do not keep one out that begins later, without history: all but what comes during its first call is served', async () => {
    await withTwoAttackers(async (gateway, sentForHealthy) => {
      for (let round = 0; round < 12; round += 1) for (const attacker of ATTACKERS) await send(gateway, attacker);
      expect(breakerOf(gateway)).toMatchObject({ state: 'open', tenants: 2, tenants_open: 2 });
      for (let call = 0; call < 20; call += 1) {
        for (const attacker of ATTACKERS) await send(gateway, attacker);
        expect((await send(gateway, HEALTHY)).headers.get('x-sluice-provider')).toBe('primary');
      }
      expect(sentForHealthy()).toBe(20);
    });
  });

  it('and names of neither reach the third: what it is told of a breaker has no tenant in it', async () => {
    await withTwoAttackers(async (gateway) => {
      for (let round = 0; round < 12; round += 1)
        for (const key of [...ATTACKERS, HEALTHY]) {
          const answer = await send(gateway, key);
          const told = JSON.stringify([...answer.headers]);
          for (const name of ['globex', 'initech', 'acme']) expect(told).not.toContain(name);
        }
    });
  });

  it('are told from a provider that is down: then it is open for all three, after a few calls each', async () => {
    await withTwoAttackers(async (gateway) => {
      for (let round = 0; round < 12; round += 1)
        for (const key of [HEALTHY, ...ATTACKERS]) expect((await send(gateway, key)).status).toBe(200);
      expect(breakerOf(gateway)).toMatchObject({ state: 'open', tenants: 3, tenants_open: 3 });
      expect(breakerOf(gateway)?.calls).toBeLessThanOrEqual(3 * 6);
    }, scripts.status(500));
  });
});
