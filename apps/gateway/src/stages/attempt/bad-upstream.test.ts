import { gzipSync } from 'node:zlib';
import { eventually } from '@sluice/testing';
import { startGateway, type GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { answer, closing, endless, sized, startRawUpstream, trickling, type Wire } from '../../testing/raw-upstream.ts';
import type { RawSnapshot } from '../../testing/sample-snapshot.ts';
import { CHUNK_ROLE, CHUNK_STOP, CHUNK_USAGE, contentChunk, DONE, WHOLE } from '../../testing/scripted-upstream.ts';

const JSON_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json';
const SSE_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream';
const CLOSE = '\r\nconnection: close';
const STREAM = CHUNK_ROLE + contentChunk('Hello there') + CHUNK_STOP + CHUNK_USAGE + DONE;
const SHOWN = CHUNK_ROLE + contentChunk('Hello there') + CHUNK_STOP + DONE;
const HTML = '<!doctype html><html><body>Bad gateway</body></html>';
const GARBAGE = Buffer.from('1f8b0800deadbeef00ff8899aabbccddeeff0011', 'hex');

const whole = (usage: string): string => WHOLE.replace(/"usage":\{[^}]*\}/, `"usage":${usage}`);
const events = (usage: string): string =>
  CHUNK_ROLE + contentChunk('Hello there') + CHUNK_STOP + `data: {"id":"c","choices":[],"usage":${usage}}\n\n` + DONE;
const sse = (body: string | Buffer): Wire => closing(answer(SSE_HEAD + CLOSE, body));

/** What the client, the ledger and the breaker see. */
interface Seen {
  readonly status: number;
  /** `x-sluice-refusal`; null for an answer. */
  readonly refusal: string | null;
  /** Of the ledger's event. */
  readonly outcome: string;
  readonly abortCase: string;
  readonly attempt: string;
  readonly usageSource: string;
  readonly billed: number;
  /** The breaker's verdict, or none. */
  readonly breaker: 'good' | 'bad' | 'none';
}

const refused = (refusal: string, status: number, attempt: string, breaker: Seen['breaker'] = 'bad'): Seen => ({
  status,
  refusal,
  outcome: breaker === 'none' ? 'client_error' : 'upstream_error',
  abortCase: 'no_bytes',
  attempt,
  usageSource: 'none',
  billed: 0,
  breaker,
});
const MALFORMED = refused('upstream_malformed', 502, 'malformed');
const FAILED = refused('upstream_unavailable', 502, 'http_error');
const TRUNCATED = refused('upstream_unavailable', 502, 'truncated');
/** 5 tokens in at 1,000 and 7 out at 2,000 nanodollars. */
const GOOD: Seen = {
  status: 200,
  refusal: null,
  outcome: 'ok',
  abortCase: 'complete',
  attempt: 'ok',
  usageSource: 'provider',
  billed: 19_000,
  breaker: 'good',
};
/** The input estimate, and the 11 characters that passed as 3 tokens. */
const ESTIMATED = { ...GOOD, usageSource: 'estimate', billed: expect.any(Number) as unknown as number };
const CUT: Seen = {
  ...ESTIMATED,
  outcome: 'upstream_error',
  abortCase: 'partial',
  attempt: 'truncated',
  breaker: 'bad',
};

type Case = readonly [mode: 'whole' | 'stream', name: string, wire: Wire, seen: Seen, body?: string | RegExp];
type Row = {
  readonly mode: Case[0];
  readonly name: string;
  readonly wire: Wire;
  readonly seen: Seen;
  readonly body: Case[4];
};

const CASES: readonly Case[] = [
  ['whole', 'an HTML page', sized('HTTP/1.1 200 OK\r\ncontent-type: text/html', HTML), MALFORMED],
  ['stream', 'an HTML page', sized('HTTP/1.1 200 OK\r\ncontent-type: text/html', HTML), MALFORMED],
  [
    'whole',
    'an HTML page of a proxy with status 502',
    sized('HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/html', HTML),
    FAILED,
  ],
  [
    'stream',
    'an HTML page of a proxy with status 502',
    sized('HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/html', HTML),
    FAILED,
  ],
  ['whole', 'half of a JSON text', sized(JSON_HEAD, WHOLE.slice(0, 60)), MALFORMED],
  ['stream', 'half of a JSON text as an event', sse('data: {"id":"c","choices":[{"ind\n\n'), MALFORMED],
  ['whole', 'JSON that is no object', sized(JSON_HEAD, '[1,2]'), MALFORMED],
  ['stream', 'JSON that is no object', sse('data: "hello"\n\n' + DONE), MALFORMED],
  ['whole', 'JSON without bottom', sized(JSON_HEAD, '['.repeat(200_000)), MALFORMED],
  ['stream', 'JSON without bottom', sse(`data: ${'['.repeat(200_000)}\n\n`), MALFORMED],
  ['whole', 'a body without end', endless(JSON_HEAD + CLOSE, ' '.repeat(65_536)), MALFORMED],
  ['stream', 'a line without end', endless(SSE_HEAD + CLOSE, 'x'.repeat(65_536)), MALFORMED],
  ['stream', 'comments without end', endless(SSE_HEAD + CLOSE, ': wait\n\n'.repeat(1_000)), MALFORMED],
  [
    'whole',
    'an error body without end',
    endless(`HTTP/1.1 500 Oops\r\ncontent-type: text/plain${CLOSE}`, 'x'.repeat(65_536)),
    FAILED,
  ],
  [
    'stream',
    'an error body without end',
    endless(`HTTP/1.1 500 Oops\r\ncontent-type: text/plain${CLOSE}`, 'x'.repeat(65_536)),
    FAILED,
  ],
  ['whole', 'bytes that claim to be gzip', sized(`${JSON_HEAD}\r\ncontent-encoding: gzip`, GARBAGE), MALFORMED],
  ['stream', 'bytes that claim to be gzip', sized(`${SSE_HEAD}\r\ncontent-encoding: gzip`, GARBAGE), MALFORMED],
  ['whole', 'gzip that is not marked', sized(JSON_HEAD, gzipSync(WHOLE)), MALFORMED],
  ['stream', 'gzip that is not marked', sse(gzipSync(STREAM)), TRUNCATED],
  [
    'whole',
    'a good answer as gzip, which was not asked for',
    sized(`${JSON_HEAD}\r\ncontent-encoding: gzip`, gzipSync(WHOLE)),
    MALFORMED,
  ],
  [
    'stream',
    'a good answer as gzip, which was not asked for',
    sized(`${SSE_HEAD}\r\ncontent-encoding: gzip`, gzipSync(STREAM)),
    MALFORMED,
  ],
  [
    'whole',
    'an answer whose encoding is identity',
    sized(`${JSON_HEAD}\r\ncontent-encoding: identity`, WHOLE),
    GOOD,
    WHOLE,
  ],
  [
    'whole',
    'a refusal of the request as gzip',
    sized('HTTP/1.1 400 Bad\r\ncontent-type: application/json\r\ncontent-encoding: gzip', gzipSync('{"error":{}}')),
    refused('bad_request', 400, 'caller_error', 'none'),
    /"code":"bad_request"/,
  ],
  [
    'stream',
    'a refusal of the request as gzip',
    sized('HTTP/1.1 400 Bad\r\ncontent-type: application/json\r\ncontent-encoding: gzip', gzipSync('{"error":{}}')),
    refused('bad_request', 400, 'caller_error', 'none'),
    /"code":"bad_request"/,
  ],
  [
    'stream',
    'events that come twice, the end marker too',
    sse(
      CHUNK_ROLE +
        CHUNK_ROLE +
        contentChunk('Hello ') +
        contentChunk('Hello ') +
        CHUNK_STOP +
        CHUNK_STOP +
        CHUNK_USAGE +
        CHUNK_USAGE +
        DONE +
        DONE,
    ),
    GOOD,
    CHUNK_ROLE + CHUNK_ROLE + contentChunk('Hello ') + contentChunk('Hello ') + CHUNK_STOP + CHUNK_STOP + DONE,
  ],
  ['whole', 'no usage', sized(JSON_HEAD, WHOLE.replace(/,"usage".*$/, '}')), ESTIMATED],
  ['stream', 'no usage', sse(CHUNK_ROLE + contentChunk('Hello there') + CHUNK_STOP + DONE), ESTIMATED, SHOWN],
  [
    'whole',
    'explicit zeros as usage',
    sized(JSON_HEAD, whole('{"prompt_tokens":0,"completion_tokens":0}')),
    { ...GOOD, billed: 0 },
  ],
  [
    'stream',
    'explicit zeros as usage',
    sse(events('{"prompt_tokens":0,"completion_tokens":0}')),
    { ...GOOD, billed: 0 },
    SHOWN,
  ],
  ['whole', 'negative usage', sized(JSON_HEAD, whole('{"prompt_tokens":-5,"completion_tokens":7}')), ESTIMATED],
  ['stream', 'negative usage', sse(events('{"prompt_tokens":5,"completion_tokens":-7}')), ESTIMATED, SHOWN],
  ['whole', 'usage in fractions', sized(JSON_HEAD, whole('{"prompt_tokens":1.5,"completion_tokens":7}')), ESTIMATED],
  ['whole', 'usage as text', sized(JSON_HEAD, whole('{"prompt_tokens":"5","completion_tokens":"7"}')), ESTIMATED],
  [
    'whole',
    'usage beyond all sense',
    sized(JSON_HEAD, whole('{"prompt_tokens":9007199254740991,"completion_tokens":7}')),
    ESTIMATED,
  ],
  ['stream', 'usage beyond all sense', sse(events('{"prompt_tokens":5,"completion_tokens":1e300}')), ESTIMATED, SHOWN],
  [
    'whole',
    'usage that is not a number',
    sized(JSON_HEAD, whole('{"prompt_tokens":NaN,"completion_tokens":7}')),
    MALFORMED,
  ],
  [
    'stream',
    'usage that is not a number',
    sse(events('{"prompt_tokens":NaN,"completion_tokens":7}')),
    { ...CUT, attempt: 'malformed' },
    /upstream_malformed/,
  ],
  ['whole', 'an error with status 200', sized(JSON_HEAD, '{"error":{"message":"boom","type":"server_error"}}'), FAILED],
  [
    'stream',
    'an error with status 200 as JSON',
    sized(JSON_HEAD, '{"error":{"message":"boom","type":"server_error"}}'),
    FAILED,
  ],
  [
    'stream',
    'an error with status 200 as the first event',
    sse('data: {"error":{"message":"boom","type":"server_error"}}\n\n'),
    FAILED,
  ],
  ['stream', 'a whole answer', sized(JSON_HEAD, WHOLE), MALFORMED],
  ['whole', 'a stream', sse(STREAM), MALFORMED],
  ['whole', 'nothing, with status 204', answer('HTTP/1.1 204 No Content'), MALFORMED],
  ['stream', 'nothing, with status 204', answer('HTTP/1.1 204 No Content'), MALFORMED],
  ['whole', 'nothing, with status 200', sized(JSON_HEAD, ''), MALFORMED],
  ['stream', 'nothing, with status 200', sse(''), TRUNCATED],
  [
    'whole',
    '1 MB of headers',
    answer(`${JSON_HEAD}\r\nx-much: ${'y'.repeat(1_000_000)}`, WHOLE),
    refused('upstream_malformed', 502, 'malformed'),
  ],
  [
    'stream',
    '1 MB of headers',
    answer(`${SSE_HEAD}\r\nx-much: ${'y'.repeat(1_000_000)}`, STREAM),
    refused('upstream_malformed', 502, 'malformed'),
  ],
  ['whole', 'a redirect', sized('HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/latest', ''), MALFORMED],
  [
    'stream',
    'a redirect',
    sized('HTTP/1.1 307 Temporary Redirect\r\nlocation: http://169.254.169.254/latest', ''),
    MALFORMED,
  ],
  [
    'whole',
    'HTTP/1.0, ended by the close',
    closing(answer('HTTP/1.0 200 OK\r\ncontent-type: application/json', WHOLE)),
    GOOD,
    WHOLE,
  ],
  [
    'stream',
    'HTTP/1.0, ended by the close',
    closing(answer('HTTP/1.0 200 OK\r\ncontent-type: text/event-stream', STREAM)),
    GOOD,
    SHOWN,
  ],
  ['whole', 'a close before its end', closing(answer(`${JSON_HEAD}\r\ncontent-length: 5000`, WHOLE)), TRUNCATED],
  [
    'stream',
    'a close before content',
    closing(
      answer(`${SSE_HEAD}\r\ntransfer-encoding: chunked`, `${CHUNK_ROLE.length.toString(16)}\r\n${CHUNK_ROLE}\r\n`),
    ),
    TRUNCATED,
  ],
  [
    'stream',
    'a close after content',
    closing(answer(SSE_HEAD + CLOSE, CHUNK_ROLE + contentChunk('Hello there'))),
    CUT,
    /upstream_unavailable/,
  ],
  ['whole', 'a length that is too short', answer(`${JSON_HEAD}\r\ncontent-length: 40`, WHOLE), MALFORMED],
  [
    'stream',
    'a length that is too short',
    answer(`${SSE_HEAD}\r\ncontent-length: ${CHUNK_ROLE.length}`, STREAM),
    TRUNCATED,
  ],
  [
    'whole',
    'two lengths that differ',
    answer(`${JSON_HEAD}\r\ncontent-length: 10\r\ncontent-length: 20`, WHOLE),
    MALFORMED,
  ],
  [
    'whole',
    'a chunk of impossible size',
    answer(`${JSON_HEAD}\r\ntransfer-encoding: chunked`, 'zz\r\nnope'),
    MALFORMED,
  ],
  [
    'stream',
    'a chunk of impossible size',
    answer(`${SSE_HEAD}\r\ntransfer-encoding: chunked`, 'zz\r\nnope'),
    MALFORMED,
  ],
  ['whole', 'something that is not HTTP', (socket) => void socket.write('SSH-2.0-OpenSSH_9.2\r\n'), MALFORMED],
  [
    'stream',
    'lines that end in CRLF, byte by byte',
    trickling(Buffer.from(`${SSE_HEAD}${CLOSE}\r\n\r\n${STREAM.replaceAll('\n', '\r\n')}`)),
    GOOD,
    SHOWN.replaceAll('\n', '\r\n'),
  ],
  [
    'whole',
    'byte by byte',
    trickling(Buffer.from(`${JSON_HEAD}\r\ncontent-length: ${WHOLE.length}\r\n\r\n${WHOLE}`)),
    GOOD,
    WHOLE,
  ],
  ['stream', 'more events after the end', sse(STREAM + contentChunk('and more') + DONE), GOOD, SHOWN],
  [
    'whole',
    'more bytes after the end',
    answer(`${JSON_HEAD}\r\ncontent-length: ${WHOLE.length}`, WHOLE + 'and more'),
    GOOD,
    WHOLE,
  ],
];

const deadlines = (raw: RawSnapshot) => {
  const { policy } = raw.plans.team as { policy: Record<string, unknown> };
  policy.deadlines = { firstByteMs: 5_000, idleMs: 5_000, totalMs: 20_000 };
};

function verdictOf(gateway: GatewayUnderTest): Seen['breaker'] {
  const [report] = gateway.breakers.report();
  if (report === undefined || report.calls === 0) return 'none';
  return report.failure_percent === 0 ? 'good' : 'bad';
}

describe('a provider that sends', () => {
  let upstream: Awaited<ReturnType<typeof startRawUpstream>>;
  beforeAll(async () => {
    upstream = await startRawUpstream(() => undefined);
  });
  afterAll(() => upstream.close());

  it.each(CASES.map(([mode, name, wire, seen, body]): Row => ({ mode, name, wire, seen, body })))(
    '$mode: $name',
    async ({ mode, wire, seen, body }) => {
      upstream.wire = wire;
      const gateway = await startGateway({ primary: upstream.url, change: deadlines });
      try {
        const before = upstream.requests;
        const response = await gateway.chat({ stream: mode === 'stream' });
        const text = await response.text();
        await eventually(() => expect(gateway.ends).toHaveLength(1));
        const [settled] = gateway.settled;
        expect({
          status: response.status,
          refusal: response.headers.get('x-sluice-refusal'),
          outcome: settled?.outcome,
          abortCase: settled?.abort_case,
          attempt: settled?.attempts[0]?.outcome,
          usageSource: settled?.usage_source,
          billed: settled?.billed_nanousd,
          breaker: verdictOf(gateway),
        }).toEqual(seen);
        expect(gateway.settled).toHaveLength(1);
        expect(upstream.requests - before).toBe(1);
        expect([gateway.slotsInUse(), gateway.view().inFlight]).toEqual([0, 0]);
        expect(response.headers.get('content-encoding')).toBeNull();
        if (typeof body === 'string') expect(text).toBe(body);
        else if (body !== undefined) expect(text).toMatch(body);
        else if (seen.refusal !== null) expect(JSON.parse(text)).toMatchObject({ error: { code: seen.refusal } });
        expect(text).not.toContain('boom');
        if (seen.outcome !== 'ok') expect(text).not.toContain('[DONE]');
      } finally {
        await gateway.close();
      }
    },
  );

  it('a second answer behind the first gives nothing of it to the next caller', async () => {
    const smuggled = `${JSON_HEAD}\r\ncontent-length: ${WHOLE.length}\r\n\r\n${WHOLE.replace('Hello there', 'smuggled  !')}`;
    let first = true;
    upstream.wire = (socket) => {
      if (first) socket.write(`${JSON_HEAD}\r\ncontent-length: ${WHOLE.length}\r\n\r\n${WHOLE}${smuggled}`);
      else sized(JSON_HEAD, WHOLE)(socket);
      first = false;
    };
    const gateway = await startGateway({ primary: upstream.url, change: deadlines });
    try {
      for (let i = 0; i < 5; i += 1) expect(await (await gateway.chat()).text()).toBe(WHOLE);
    } finally {
      await gateway.close();
    }
  });

  it('interim answers without end is left after the first-byte deadline', async () => {
    upstream.wire = endless('HTTP/1.1 103 Early Hints', 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n');
    const gateway = await startGateway({
      primary: upstream.url,
      change: (raw) =>
        void ((raw.plans.team as { policy: Record<string, unknown> }).policy.deadlines = {
          firstByteMs: 300,
          idleMs: 300,
          totalMs: 1_000,
        }),
    });
    try {
      expect((await gateway.chat()).headers.get('x-sluice-refusal')).toBe('upstream_timeout');
      await eventually(() => expect(gateway.slotsInUse()).toBe(0));
    } finally {
      await gateway.close();
    }
  });
});
