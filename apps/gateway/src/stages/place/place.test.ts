import { rawRequest, type RawResponse } from '@sluice/testing';
import { chatBody, startGateway, type GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { SAMPLE_KEYS } from '../../testing/sample-snapshot.ts';
import { scripts, startScriptedUpstream, type ScriptedUpstream } from '../../testing/scripted-upstream.ts';

const UNKNOWN_KEY = SAMPLE_KEYS.acme.replace('acmekey001', 'acmekey999');
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

/** What a caller can see of an answer, without what is different in every answer. */
async function ask(path: string, host: string, key: string): Promise<RawResponse> {
  const body = chatBody({ max_tokens: 5 });
  const response = await rawRequest(
    gateway.port,
    `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  );
  const id = response.headers['x-request-id'] as string;
  const {
    date: _date,
    'x-request-id': _id,
    'request-id': _anthropic,
    'anthropic-ratelimit-requests-reset': _reset,
    ...headers
  } = response.headers;
  return { ...response, headers, body: response.body.replaceAll(id, 'ID') };
}

describe.each(['/v1/chat/completions', '/v1/messages'])('on %s', (path) => {
  it("a key in the place of another customer's workspace is answered like a key that does not exist, to the last byte but its id", async () => {
    const foreign = await ask(path, 'globex-prod.sluice.localhost', SAMPLE_KEYS.acme);
    expect(foreign.status).toBe(401);
    expect(foreign).toEqual(await ask(path, 'globex-prod.sluice.localhost', UNKNOWN_KEY));
    expect(foreign).toEqual(await ask(path, 'acme-prod.sluice.localhost', UNKNOWN_KEY));
  });

  it('a workspace of the same customer, of another cell, or any other that exists is no different', async () => {
    const foreign = await ask(path, 'globex-prod.sluice.localhost', SAMPLE_KEYS.acme);
    expect(await ask(path, 'far-away.sluice.localhost', SAMPLE_KEYS.acme)).toEqual(foreign);
    expect(await ask(path, 'FAR-AWAY.sluice.localhost.:8080', SAMPLE_KEYS.globex)).toEqual(foreign);
  });

  it('who has no valid key learns nothing of a name: known or not, the answer is the same', async () => {
    const known = await ask(path, 'globex-prod.sluice.localhost', UNKNOWN_KEY);
    for (const name of ['nobody', 'a.b', '', 'globex-prod.x'])
      expect(await ask(path, `${name}.sluice.localhost`, UNKNOWN_KEY)).toEqual(known);
  });

  it('a name that is no workspace is a 421 for a valid key, the same for every name', async () => {
    const unknown = await ask(path, 'nobody.sluice.localhost', SAMPLE_KEYS.acme);
    expect([unknown.status, unknown.headers['x-sluice-refusal']]).toEqual([421, 'workspace_unknown']);
    expect(await ask(path, 'globex-prod.x.sluice.localhost', SAMPLE_KEYS.acme)).toEqual(unknown);
  });
});

it('another host means the workspace of the key', async () => {
  for (const host of ['acme-prod.sluice.localhost:8080', 'localhost', '127.0.0.1', 'api.example.com'])
    expect((await ask('/v1/chat/completions', host, SAMPLE_KEYS.acme)).status).toBe(200);
});
