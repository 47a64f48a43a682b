import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { PRINCIPAL_HEADER } from '@sluice/contracts';
import { listenOn, verifyPrincipal, type Listening } from '@sluice/service-kit';
import { eventually } from '@sluice/testing';
import { PRINCIPAL_KEY } from '../test-support/fake-control-plane.ts';
import { startTestBff, type TestBff } from '../test-support/start-test-bff.ts';

type Script = (res: ServerResponse) => void;

let gateway: Listening;
let script: Script;
let requests: { headers: IncomingMessage['headers']; body: Record<string, unknown> }[];
let closed: number;
let bff: TestBff;
let token: string;

beforeEach(async () => {
  requests = [];
  closed = 0;
  const server = createServer((req, res) => {
    let text = '';
    req.on('data', (part: Buffer) => (text += part.toString()));
    res.on('close', () => (closed += 1));
    req.on('end', () => {
      requests.push({ headers: req.headers, body: JSON.parse(text) as Record<string, unknown> });
      script(res);
    });
  });
  gateway = await listenOn(server, { host: '127.0.0.1', port: 0, graceMs: 10 });
  bff = await startTestBff({ gatewayUrl: gateway.url });
  token = await bff.signIn('developer@acme-prod');
});
afterEach(async () => {
  await bff.close();
  await gateway.close();
});

const hang: Script = (res) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.write('data: {"first":1}\n\n');
};
const BODY = { model: 'sim-small', messages: [{ role: 'user', content: 'hi' }] };
const play = (body: unknown = BODY, signal?: AbortSignal, as = token, slug = 'acme-prod') =>
  fetch(`${bff.url}/api/playground?workspace=${slug}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });

describe('the playground', () => {
  it('streams the gateway’s answer as it comes, with the headers that are contracts and no other', async () => {
    let go: () => void = () => undefined;
    script = (res) => {
      res.writeHead(200, {
        'content-type': 'text/event-stream',
        'x-sluice-model': 'sim-small',
        'x-ratelimit-remaining-requests': '7',
        'x-internal-margin': '77',
        'set-cookie': 'a=b',
      });
      res.write('data: {"first":1}\n\n');
      go = () => res.end('event: usage\ndata: {"cost_nanousd":5}\n\ndata: [DONE]\n\n');
    };
    const res = await play();
    expect([res.status, res.headers.get('x-sluice-model'), res.headers.get('x-ratelimit-remaining-requests')]).toEqual([
      200,
      'sim-small',
      '7',
    ]);
    expect([res.headers.get('x-internal-margin'), res.headers.get('set-cookie')]).toEqual([null, null]);
    const reader = res.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: {"first":1}\n\n');
    go();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('cost_nanousd');
  });

  it('tells the gateway who acts where, with no more than the one role, and no key', async () => {
    script = (res) => res.writeHead(200).end('{}');
    await play({ ...BODY, max_tokens: 5, feature: 'try' });
    const [call] = requests;
    expect(verifyPrincipal(String(call?.headers[PRINCIPAL_HEADER]), PRINCIPAL_KEY, bff.clock)).toMatchObject({
      email: 'developer@acme-prod',
      roles: { 'acme-prod': 'developer' },
    });
    expect(call?.headers).toMatchObject({
      'x-sluice-act-workspace': 'acme-prod',
      'x-sluice-usage-event': 'true',
      'x-sluice-feature': 'try',
    });
    expect(call?.headers.authorization).toBeUndefined();
    expect(call?.body).toEqual({ ...BODY, stream: true, max_tokens: 5 });
  });

  it('passes a refusal on with its status and its wait', async () => {
    script = (res) =>
      res
        .writeHead(429, { 'content-type': 'application/json', 'retry-after': '3', 'x-sluice-refusal': 'throttled' })
        .end('{"error":{"message":"slow down"}}');
    const res = await play();
    expect([res.status, res.headers.get('retry-after'), res.headers.get('x-sluice-refusal')]).toEqual([
      429,
      '3',
      'throttled',
    ]);
    expect(await res.json()).toEqual({ error: { message: 'slow down' } });
  });

  it('cancels the call when the person stops', async () => {
    script = hang;
    const stop = new AbortController();
    const res = await play(BODY, stop.signal);
    await res.body?.getReader().read();
    stop.abort();
    await eventually(() => expect(closed).toBe(1));
  });

  it('holds up no page and nobody else: its calls have places of their own, a few for each person and workspace', async () => {
    script = hang;
    const stop = new AbortController();
    await Promise.all([play(BODY, stop.signal), play(BODY, stop.signal)]);
    const third = await play();
    expect([third.status, third.headers.get('retry-after')]).toEqual([503, '2']);
    expect((await play(BODY, stop.signal, await bff.signIn('admin@acme-prod'))).status).toBe(200);
    const colleague = await play(BODY, undefined, await bff.signIn('admin@acme-prod'));
    expect([colleague.status, await colleague.text()]).toEqual([503, expect.stringContaining('this workspace')]);
    expect((await play(BODY, stop.signal, await bff.signIn('admin@globex-prod'), 'globex-prod')).status).toBe(200);
    // Every place is taken now; pages answer all the same.
    const pages = await Promise.all(
      Array.from({ length: 20 }, () => bff.ask(token, 'get', '/api/overview?workspace=acme-prod')),
    );
    expect(pages.every(({ status }) => status === 200)).toBe(true);
    stop.abort();
    await eventually(() => expect(closed).toBe(4));
    script = (res) => res.writeHead(200).end('{}');
    await eventually(async () => expect((await play()).status).toBe(200));
  });

  it.each([
    ['another field', { ...BODY, stream: false }],
    ['a workspace of one’s own choice', { ...BODY, workspace: 'globex-prod' }],
    ['no message', { ...BODY, messages: [] }],
    ['a header in the feature', { ...BODY, feature: 'a\r\nx-sluice-act-workspace: globex-prod' }],
  ])('refuses %s without asking the gateway', async (_what, body) => {
    script = hang;
    expect((await play(body)).status).toBe(400);
    expect(requests).toEqual([]);
  });
});
