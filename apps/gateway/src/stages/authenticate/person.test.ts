import { HEADER, PRINCIPAL_HEADER, systemClock, type Principal, type Role } from '@sluice/contracts';
import { signPrincipal } from '@sluice/service-kit';
import {
  chatBody,
  SAMPLE_PRINCIPAL_KEY,
  startGateway,
  type GatewayUnderTest,
} from '../../testing/gateway-under-test.ts';
import { SAMPLE_KEYS } from '../../testing/sample-snapshot.ts';
import { scripts, startScriptedUpstream, type ScriptedUpstream } from '../../testing/scripted-upstream.ts';

let upstream: ScriptedUpstream;
let gateway: GatewayUnderTest;
beforeAll(async () => {
  upstream = await startScriptedUpstream(scripts.whole);
  gateway = await startGateway({ primary: upstream.url });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

function signed(role: Role, { key = SAMPLE_PRINCIPAL_KEY, ageS = 0 } = {}): string {
  const principal: Principal = { kind: 'person', userId: 'u1', email: 'ada@acme.test', roles: { 'acme-prod': role } };
  return signPrincipal(principal, key, { now: () => systemClock.now() - ageS * 1000 });
}

async function call(headers: Record<string, string>): Promise<{ status: number; text: string }> {
  const res = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: chatBody(),
  });
  return { status: res.status, text: (await res.text()).replace(/req_[0-9A-Z]{26}/g, 'req') };
}
const act = (token: string, slug = 'acme-prod') => call({ [PRINCIPAL_HEADER]: token, [HEADER.actWorkspace]: slug });

describe('a person who acts in a workspace', () => {
  it('calls with the limits and on the bill of that workspace, under an id of their own, and nothing of it reaches the provider', async () => {
    expect((await act(signed('developer'))).status).toBe(200);
    expect(gateway.settled.at(-1)).toMatchObject({
      tenant_id: 'acme',
      workspace: 'acme-prod',
      key_id: expect.stringMatching(/^person[0-9a-f]{24}$/) as string,
    });
    const sent = upstream.requests.at(-1)?.headers.join('\n').toLowerCase() ?? '';
    expect(sent).not.toMatch(/x-sluice-principal|act-workspace/);
  });

  it('is refused alike in another’s workspace, in one that does not exist, and with a role that may not call', async () => {
    const refused = [
      await act(signed('admin'), 'globex-prod'),
      await act(signed('admin'), 'nowhere'),
      await act(signed('admin'), '__proto__'),
      await act(signed('viewer')),
    ];
    expect(new Set(refused.map(({ text }) => text)).size).toBe(1);
    expect(refused[0]?.status).toBe(403);
  });

  it('is nobody with a token that is old, altered, or signed by another', async () => {
    for (const token of [
      signed('admin', { ageS: 62 }),
      signed('admin', { key: 'another-key-of-this-test' }),
      `${signed('admin')}x`,
      'x',
      '',
    ]) {
      expect([token.slice(-6), (await act(token)).status]).toEqual([token.slice(-6), 401]);
    }
    expect((await call({ [PRINCIPAL_HEADER]: signed('admin') })).status).toBe(401);
  });

  it('cannot be asked for beside an API key, whatever else is sent', async () => {
    const keys: Record<string, string>[] = [
      { authorization: `Bearer ${SAMPLE_KEYS.acme}` },
      { 'x-api-key': SAMPLE_KEYS.acme },
    ];
    for (const key of keys) {
      expect(
        (await call({ ...key, [PRINCIPAL_HEADER]: signed('admin'), [HEADER.actWorkspace]: 'acme-prod' })).status,
      ).toBe(403);
    }
    expect(
      (
        await call({
          authorization: 'Bearer nonsense',
          [PRINCIPAL_HEADER]: signed('admin'),
          [HEADER.actWorkspace]: 'acme-prod',
        })
      ).status,
    ).toBe(401);
  });
});
