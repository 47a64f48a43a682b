import { rawRequest } from '@sluice/testing';
import { startFrontServer } from '../testing/front-server.ts';
import { startGateway, type GatewayUnderTest } from '../testing/gateway-under-test.ts';
import { startRawUpstream, type Wire } from '../testing/raw-upstream.ts';
import { SAMPLE_KEYS } from '../testing/sample-snapshot.ts';
import { scripts, startScriptedUpstream, WHOLE } from '../testing/scripted-upstream.ts';

const BODY = JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'x' }] });
const post = (target: string, key: string = SAMPLE_KEYS.acme, host = 'x'): string =>
  `POST ${target} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;
const get = (target: string, headers = `authorization: Bearer ${SAMPLE_KEYS.acme}\r\n`): string =>
  `GET ${target} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`;

describe('the front', () => {
  it('serves a target that names the whole address, and takes the host from there', async () => {
    const front = await startFrontServer();
    try {
      const statusOf = async (bytes: string): Promise<number> => (await rawRequest(front.port, bytes)).status;
      expect(await statusOf(post('http://api.example.com/v1/chat/completions'))).toBe(200);
      expect(await statusOf(post('http://api.example.com/v1/chat/completions?x=1'))).toBe(200);
      expect(await statusOf(get('http://api.example.com/v1/models'))).toBe(200);
      expect(await statusOf(get('http://api.example.com/health', ''))).toBe(200);
      // The header names another workspace than the address; the address counts.
      expect(
        await statusOf(post('http://globex-prod.sluice.localhost/v1/chat/completions', SAMPLE_KEYS.acme, 'x')),
      ).toBe(401);
      expect(
        await statusOf(post('http://x/v1/chat/completions', SAMPLE_KEYS.acme, 'globex-prod.sluice.localhost')),
      ).toBe(200);
    } finally {
      await front.close();
    }
  });

  it.each(['/v1/models/%zz', '/v1/models/%', '/v1/models/%e0%a4%a'])(
    'answers the malformed path %s with a 400 that says so, and logs no fault',
    async (path) => {
      const front = await startFrontServer();
      try {
        const answer = await rawRequest(front.port, get(path));
        expect(answer.status).toBe(400);
        expect(answer.body).toContain('%25');
        expect(front.logged).toEqual([]);
      } finally {
        await front.close();
      }
    },
  );

  it.each([
    ['a call', post('/v1/chat/completions')],
    ['a refused call', post('/v1/chat/completions', 'sk-sluice-nobodysKey01-cccccccccccccccccccccccccccccccc')],
    ['a list', get('/v1/models')],
    ['liveness', get('/health', '')],
    ['an unknown route', get('/v1/nothing')],
    [
      'a preflight',
      'OPTIONS /v1/models HTTP/1.1\r\nhost: x\r\norigin: https://app.acme.test\r\naccess-control-request-method: GET\r\n\r\n',
    ],
    ['bytes that are no request', 'nonsense\r\n\r\n'],
  ])('tells browsers to believe the content type of %s', async (_what, bytes) => {
    const front = await startFrontServer();
    try {
      expect((await rawRequest(front.port, bytes)).headers['x-content-type-options']).toBe('nosniff');
    } finally {
      await front.close();
    }
  });
});

describe('an answer of a provider', () => {
  const answered = async (wire: Wire, check: (gateway: GatewayUnderTest) => Promise<void>): Promise<void> => {
    const upstream = await startRawUpstream(wire);
    const gateway = await startGateway({ primary: upstream.url });
    try {
      await check(gateway);
    } finally {
      await gateway.close();
      await upstream.close();
    }
  };
  const head = (status: string, type = 'application/json', body = WHOLE): string =>
    `HTTP/1.1 ${status}\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`;

  it.each([
    ['an unasked 100 Continue', [`HTTP/1.1 100 Continue\r\n\r\n${head('200 OK')}${WHOLE}`]],
    [
      'two of them, with headers',
      [`HTTP/1.1 100 Continue\r\nx: y\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${head('200 OK')}${WHOLE}`],
    ],
    ['one in pieces', ['HTTP/1.1 1', '00 Continue\r', '\n\r\n', head('200 OK'), WHOLE]],
    ['the status 201', [head('201 Created') + WHOLE]],
    ['a content type in capitals', [head('200 OK', 'Application/JSON; charset=UTF-8') + WHOLE]],
    ['a content type that is not what it is', [head('200 OK', 'text/html') + WHOLE]],
  ] as [string, string[]][])(
    'with %s is read, and passed on as JSON, on a connection that goes on',
    async (_what, pieces) => {
      await answered(
        (socket) => pieces.forEach((piece, i) => setTimeout(() => socket.write(piece), i * 20)),
        async (gateway) => {
          for (let calls = 0; calls < 2; calls += 1) {
            const answer = await gateway.chat();
            expect([answer.ok, await answer.text()]).toEqual([true, WHOLE]);
            expect(answer.headers.get('content-type')).toBe('application/json');
            expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
          }
        },
      );
    },
  );

  it('that streams under a content type in capitals is a stream', async () => {
    const stream = `data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;
    await answered(
      (socket) => void socket.write(head('200 OK', 'Text/Event-Stream', stream) + stream),
      async (gateway) => {
        const answer = await gateway.chat({ stream: true });
        expect(await answer.text()).toContain('"Hi"');
      },
    );
  });

  it.each([400, 404, 413, 422])('of HTML with status %d becomes an error of our own dialect', async (status) => {
    const page = '<html><script>alert(1)</script></html>';
    await answered(
      (socket) => void socket.write(head(`${status} No`, 'text/html', page) + page),
      async (gateway) => {
        const answer = await gateway.chat();
        const text = await answer.text();
        expect(answer.status).toBe(status);
        expect(answer.headers.get('content-type')).toBe('application/json');
        expect(text).not.toContain('script');
        expect(JSON.parse(text)).toMatchObject({ error: { message: expect.any(String), type: expect.any(String) } });
      },
    );
  });
});

it('20 choices are passed on, and a caller’s own tenant markers are not, at any depth', async () => {
  const upstream = await startScriptedUpstream(scripts.whole);
  const gateway = await startGateway({ primary: upstream.url });
  try {
    const metadata = { team: 'search', 'x-sluice-tenant': 'a', deep: [{ 'X-Sluice-Tenant': 'b', kept: 1 }] };
    expect((await gateway.chat({ n: 20, metadata, 'X-Sluice-Tenant': 'c' })).status).toBe(200);
    expect(JSON.parse(upstream.requests[0]?.body ?? '')).toMatchObject({
      n: 20,
      metadata: { team: 'search', deep: [{ kept: 1 }] },
    });
    expect(upstream.requests[0]?.body).not.toMatch(/x-sluice-tenant/i);
  } finally {
    await gateway.close();
    await upstream.close();
  }
});
