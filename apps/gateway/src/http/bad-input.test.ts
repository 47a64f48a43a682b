import { rawExchange, startFrontServer, type FrontServer } from '../testing/front-server.ts';
import { SAMPLE_KEYS } from '../testing/sample-snapshot.ts';

const DIALECTS = [
  { dialect: 'openai', path: '/v1/chat/completions' },
  { dialect: 'anthropic', path: '/v1/messages' },
] as const;
const GOOD = { model: 'sim-small', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };
const KEY = { authorization: `Bearer ${SAMPLE_KEYS.acme}` };

let front: FrontServer;
beforeEach(async () => {
  front = await startFrontServer({ limits: { headersTimeoutMs: 10_000 } });
});
afterEach(async () => {
  expect(front.faults).toEqual([]);
  expect(front.server.inFlight).toBe(0);
  await front.close();
});

function post(path: string, body: string | Buffer, headers: Record<string, string> = KEY): Promise<Response> {
  return fetch(`${front.url}${path}`, {
    method: 'POST',
    body: body as string,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

interface ErrorBody {
  type?: string;
  request_id?: string;
  error: { message: string; type: string; param?: string | null; code?: string };
}

async function expectRefusal(
  response: Response,
  dialect: string,
  status: number,
  refusal: string,
  says: RegExp,
): Promise<void> {
  const body = (await response.json()) as ErrorBody;
  expect([response.status, response.headers.get('x-sluice-refusal')]).toEqual([status, refusal]);
  expect(response.headers.get('x-request-id')).toMatch(/^req_/);
  expect(body.error.message).toMatch(says);
  if (dialect === 'openai') {
    expect(Object.keys(body)).toEqual(['error']);
    expect(Object.keys(body.error).sort()).toEqual(['code', 'message', 'param', 'type']);
  } else {
    expect(body.type).toBe('error');
    expect(Object.keys(body.error).sort()).toEqual(['message', 'type']);
    expect(body.request_id).toBe(response.headers.get('request-id'));
  }
}

const with_ = (change: object): string => JSON.stringify({ ...GOOD, ...change });

const BAD_BODIES: readonly [name: string, body: string | Buffer, status: number, refusal: string, says: RegExp][] = [
  ['malformed JSON', '{"model": "sim-small", ', 400, 'invalid_json', /not valid JSON/],
  ['an empty body', '', 400, 'invalid_json', /empty/],
  ['a body that is no object', '[1,2]', 400, 'invalid_json', /JSON object/],
  [
    'a body nested without end',
    with_({ x: 0 }).replace('"x":0', `"x":${'['.repeat(10_000)}${']'.repeat(10_000)}`),
    400,
    'invalid_json',
    /more than 200 deep/,
  ],
  ['a body that opens brackets and closes none', '['.repeat(5_000), 400, 'invalid_json', /more than 200 deep/],
  [
    'a body of more values than are read',
    with_({ x: Array.from({ length: 500_001 }, () => 1) }),
    413,
    'body_too_large',
    /more than 500,000 values/,
  ],
  ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400, 'invalid_json', /UTF-8/],
  [
    'a model named twice',
    '{"model":"sim-small","model":"sim-large","max_tokens":5,"messages":[{"role":"user","content":"x"}]}',
    400,
    'duplicate_key',
    /'model' twice/,
  ],
  [
    'a model named twice, once with an escape',
    '{"mod\\u0065l":"sim-small","model":"sim-large","max_tokens":5,"messages":[{"role":"user"}]}',
    400,
    'duplicate_key',
    /'model' twice/,
  ],
  ['no model', JSON.stringify({ max_tokens: 5, messages: GOOD.messages }), 400, 'invalid_value', /'model' is required/],
  ['a model that is a number', with_({ model: 3 }), 400, 'invalid_value', /'model' must be a string/],
  ['an unknown model', with_({ model: 'gpt-99' }), 404, 'model_not_found', /'gpt-99' does not exist/],
  ['a retired model', with_({ model: 'old-model' }), 404, 'model_retired', /Use 'sim-small' instead/],
  ['a model without a price', with_({ model: 'unpriced' }), 400, 'price_unknown', /no price/],
  ['no messages', with_({ messages: [] }), 400, 'invalid_value', /at least one message/],
  ['messages that are a string', with_({ messages: 'hi' }), 400, 'invalid_value', /array of messages/],
  ['a message that is no object', with_({ messages: ['hi'] }), 400, 'invalid_value', /messages\[0\]/],
  ['a message without a role', with_({ messages: [{ content: 'hi' }] }), 400, 'invalid_value', /messages\[0\]\.role/],
  ['max_tokens of 0', with_({ max_tokens: 0 }), 400, 'invalid_value', /'max_tokens' must be a whole number/],
  ['max_tokens as text', with_({ max_tokens: '5' }), 400, 'invalid_value', /'max_tokens' must be a whole number/],
  ['stream as text', with_({ stream: 'yes' }), 400, 'invalid_value', /'stream' must be true or false/],
  ['tools that are an object', with_({ tools: {} }), 400, 'invalid_value', /'tools' must be an array/],
];

describe.each(DIALECTS)('bad input on the $dialect route', ({ dialect, path }) => {
  it('a good call passes', async () => {
    const response = await post(path, JSON.stringify(GOOD));
    expect([response.status, await response.json()]).toEqual([200, { ok: true }]);
    expect(response.headers.get('x-ratelimit-reset-requests')).toBe('17ms');
    expect(response.headers.get('x-sluice-cache')).toBe('off');
  });

  it.each(BAD_BODIES)(
    '%s is refused with what to fix, before anything is taken',
    async (_name, body, status, refusal, says) => {
      await expectRefusal(await post(path, body), dialect, status, refusal, says);
      expect(front.admitted).toEqual([]);
    },
  );

  it.each([
    ['a missing key', {}],
    ['a malformed key', { authorization: 'Bearer nonsense' }],
    ['an unknown key', { authorization: `Bearer ${SAMPLE_KEYS.acme.replace('acmekey001', 'acmekey999')}` }],
    ['a key with a wrong secret', { authorization: `Bearer ${SAMPLE_KEYS.acme.slice(0, -1)}z` }],
    ['an expired key', { authorization: `Bearer ${SAMPLE_KEYS.expired}` }],
  ])('%s is answered with the one 401', async (_name, headers) => {
    const response = await post(path, JSON.stringify(GOOD), headers as Record<string, string>);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
    await expectRefusal(response, dialect, 401, 'unauthenticated', /^No valid API key was given\./);
  });

  it('a body of 11 MB is refused before it is read', async () => {
    const size = 11 * 1024 * 1024;
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${SAMPLE_KEYS.acme}\r\ncontent-length: ${size}\r\n\r\n`;
    const answer = await rawExchange(front.port, head);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer.toLowerCase()).toContain('connection: close');
    expect(answer).toContain('10,485,760 bytes');
  });

  it('a body of 11 MB that is sent in spite of that still gets its answer', async () => {
    await expectRefusal(
      await post(path, Buffer.alloc(11 * 1024 * 1024, 0x20)),
      dialect,
      413,
      'body_too_large',
      /larger than/,
    );
  });

  it('a chunked body is cut at the cap', async () => {
    const chunk = `${(1024 * 1024).toString(16)}\r\n${' '.repeat(1024 * 1024)}\r\n`;
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${SAMPLE_KEYS.acme}\r\ntransfer-encoding: chunked\r\n\r\n`;
    expect(await rawExchange(front.port, head + chunk.repeat(11))).toMatch(/^HTTP\/1\.1 413 /);
  });

  it.each(['host: y', `authorization: Bearer ${SAMPLE_KEYS.globex}`, 'Authorization: Bearer x'])(
    'a second header %s is refused',
    async (second) => {
      const body = JSON.stringify(GOOD);
      const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${SAMPLE_KEYS.acme}\r\n${second}\r\ncontent-length: ${body.length}\r\n\r\n`;
      const answer = await rawExchange(front.port, head + body);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain('x-sluice-refusal: duplicate_header');
    },
  );

  it('two lengths are refused', async () => {
    const answer = await rawExchange(
      front.port,
      `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('a header line of 64 kB is refused in the dialect of the route', async () => {
    const answer = await rawExchange(
      front.port,
      `POST ${path} HTTP/1.1\r\nhost: x\r\nx-long: ${'a'.repeat(64 * 1024)}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).toContain(dialect === 'openai' ? '"code":"headers_too_large"' : '{"type":"error"');
  });

  it('bytes that are no HTTP are a 400', async () => {
    expect(await rawExchange(front.port, 'GARBAGE\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('a compressed body and a form are refused with 415', async () => {
    await expectRefusal(
      await post(path, 'x', { ...KEY, 'content-encoding': 'gzip' }),
      dialect,
      415,
      'unsupported_encoding',
      /must not be compressed/,
    );
    await expectRefusal(
      await post(path, 'x', { ...KEY, 'content-type': 'text/plain' }),
      dialect,
      415,
      'unsupported_encoding',
      /application\/json/,
    );
  });

  it('another method is a 405 that names the right one', async () => {
    const response = await fetch(`${front.url}${path}`, { headers: KEY });
    expect(response.headers.get('allow')).toBe('POST');
    await expectRefusal(response, dialect, 405, 'method_not_allowed', /POST/);
  });

  it('a bad deadline and bad labels are refused by name', async () => {
    for (const [header, value] of [
      ['x-sluice-timeout-ms', 'soon'],
      ['x-sluice-timeout-ms', '0'],
      ['x-sluice-feature', 'a b'],
      ['x-sluice-tags', 'novalue'],
    ] as const) {
      await expectRefusal(
        await post(path, JSON.stringify(GOOD), { ...KEY, [header]: value }),
        dialect,
        400,
        'invalid_value',
        new RegExp(header),
      );
    }
  });
});

it('an Anthropic call without max_tokens is refused, an OpenAI call without it is not', async () => {
  const body = JSON.stringify({ model: 'sim-small', messages: GOOD.messages });
  await expectRefusal(await post('/v1/messages', body), 'anthropic', 400, 'invalid_value', /'max_tokens' is required/);
  expect((await post('/v1/chat/completions', body)).status).toBe(200);
});

describe.each(DIALECTS)('silence on the $dialect route', ({ dialect, path }) => {
  let impatient: FrontServer;
  beforeEach(async () => {
    impatient = await startFrontServer({ silenceMs: 200, limits: { headersTimeoutMs: 300 } });
  });
  afterEach(() => impatient.close());

  it('half a body and silence is a 408', async () => {
    const answer = await rawExchange(
      impatient.port,
      `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${SAMPLE_KEYS.acme}\r\ncontent-length: 100\r\n\r\n{"model":`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain(dialect === 'openai' ? '"code":"request_timeout"' : '{"type":"error"');
  });

  it('half a head and silence is a 408', async () => {
    const answer = await rawExchange(impatient.port, `POST ${path} HTTP/1.1\r\nhost: x\r\nauthor`);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });
});
