import { systemClock, type CallSettled, type CallStarted } from '@sluice/contracts';
import { eventually } from '@sluice/testing';
import { interruptedEvent } from '../../metering/usage-events.ts';
import { startGateway, type GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import {
  CHUNK_ROLE,
  CHUNK_STOP,
  CHUNK_USAGE,
  contentChunk,
  DONE,
  scripts,
  startScriptedUpstream,
  type Script,
  type ScriptedUpstream,
} from '../../testing/scripted-upstream.ts';

/** Nanodollars per token of the sample price. */
const [INPUT, OUTPUT] = [1_000, 2_000];
const TEXT = contentChunk('x'.repeat(40));
const usage = (prompt: number, completion: number): string =>
  CHUNK_USAGE.replace(
    '"prompt_tokens":5,"completion_tokens":7',
    `"prompt_tokens":${prompt},"completion_tokens":${completion}`,
  );
const withUsage = (chunk: string, prompt: number, completion: number): string =>
  chunk.replace(/}\n\n$/, `,"usage":{"prompt_tokens":${prompt},"completion_tokens":${completion}}}\n\n`);
const whole =
  (fields: object): Script =>
  (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        model: 'm',
        choices: [{ message: { content: 'x'.repeat(40) }, finish_reason: 'stop' }],
        ...fields,
      }),
    );
const STREAM = { stream: true };

const read = async (gateway: GatewayUnderTest, body: object): Promise<unknown> => (await gateway.chat(body)).text();
/** Leaves once `text` has come. */
const leaveAfter =
  (text: string) =>
  async (gateway: GatewayUnderTest, body: object): Promise<unknown> => {
    const abort = new AbortController();
    const answer = await gateway.chat(body, { signal: abort.signal });
    let seen = '';
    for await (const part of answer.body as unknown as AsyncIterable<Uint8Array>) {
      seen += Buffer.from(part).toString();
      if (seen.includes(text)) break;
    }
    return abort.abort();
  };
/** Leaves once the provider has the request. */
const leaveEarly = async (gateway: GatewayUnderTest, body: object, upstream: ScriptedUpstream): Promise<unknown> => {
  const abort = new AbortController();
  const asking = gateway
    .chat(body, { signal: abort.signal })
    .then((answer) => answer.text())
    .catch(() => undefined);
  await eventually(() => expect(upstream.requests).toHaveLength(1));
  abort.abort();
  return asking;
};

async function settledBy(
  script: Script,
  act: (gateway: GatewayUnderTest, body: object, upstream: ScriptedUpstream) => Promise<unknown>,
  body: object,
): Promise<Omit<CallSettled, 'gateway_id' | 'epoch' | 'sequence'>> {
  const upstream = await startScriptedUpstream(script);
  const gateway = await startGateway({ primary: upstream.url });
  try {
    await act(gateway, body, upstream);
    await eventually(() => expect(gateway.ends).toHaveLength(1));
    expect(gateway.settled).toHaveLength(1);
    return gateway.settled[0] as (typeof gateway.settled)[0];
  } finally {
    await gateway.close();
    await upstream.close();
  }
}

interface Row {
  readonly what: string;
  readonly script: Script;
  readonly body?: object;
  readonly act?: (gateway: GatewayUnderTest, body: object, upstream: ScriptedUpstream) => Promise<unknown>;
  readonly case: string;
  readonly source: string;
  /** Tokens billed; `estimate` stands for the input that was expected. */
  readonly input: number | 'estimate';
  readonly output: number;
  /** Where it is not what is billed: the input that the provider had. */
  readonly ourCost?: 'input';
}

const ROWS: readonly Row[] = [
  {
    what: 'a whole answer with usage',
    script: whole({ usage: { prompt_tokens: 5, completion_tokens: 7 } }),
    case: 'complete',
    source: 'provider',
    input: 5,
    output: 7,
  },
  {
    what: 'a whole answer with explicit zeros',
    script: whole({ usage: { prompt_tokens: 0, completion_tokens: 0 } }),
    case: 'complete',
    source: 'provider',
    input: 0,
    output: 0,
  },
  {
    what: 'a whole answer without usage',
    script: whole({}),
    case: 'complete',
    source: 'estimate',
    input: 'estimate',
    output: 10,
  },
  {
    what: 'a whole answer with negative usage',
    script: whole({ usage: { prompt_tokens: -5, completion_tokens: 7 } }),
    case: 'complete',
    source: 'estimate',
    input: 'estimate',
    output: 10,
  },
  {
    what: 'a whole answer with usage beyond all sense',
    script: whole({ usage: { prompt_tokens: 5, completion_tokens: 9e15 } }),
    case: 'complete',
    source: 'estimate',
    input: 'estimate',
    output: 10,
  },
  {
    what: 'two choices in a whole answer without usage',
    script: whole({ choices: [{ message: { content: 'x'.repeat(40) } }, { message: { content: 'x'.repeat(80) } }] }),
    body: { n: 2 },
    case: 'complete',
    source: 'estimate',
    input: 'estimate',
    output: 30,
  },
  {
    what: 'a whole answer whose client left first',
    script: scripts.hang,
    act: leaveEarly,
    case: 'given_up',
    source: 'estimate',
    input: 'estimate',
    output: 0,
  },
  {
    what: 'a whole answer that was cut',
    script: (response) =>
      void response.writeHead(200, { 'content-length': '1000' }).write('{"choices":[', () => response.destroy()),
    case: 'no_bytes',
    source: 'none',
    input: 0,
    output: 0,
    ourCost: 'input',
  },
  {
    what: 'a stream with usage',
    script: scripts.stream(CHUNK_ROLE, TEXT, CHUNK_STOP, CHUNK_USAGE, DONE),
    body: STREAM,
    case: 'complete',
    source: 'provider',
    input: 5,
    output: 7,
  },
  {
    what: 'a stream with explicit zeros',
    script: scripts.stream(TEXT, CHUNK_STOP, usage(0, 0), DONE),
    body: STREAM,
    case: 'complete',
    source: 'provider',
    input: 0,
    output: 0,
  },
  {
    what: 'a stream without usage',
    script: scripts.stream(TEXT, CHUNK_STOP, DONE),
    body: STREAM,
    case: 'complete',
    source: 'estimate',
    input: 'estimate',
    output: 10,
  },
  {
    what: 'a stream with negative usage',
    script: scripts.stream(TEXT, CHUNK_STOP, usage(5, -7), DONE),
    body: STREAM,
    case: 'complete',
    source: 'estimate',
    input: 'estimate',
    output: 10,
  },
  {
    what: 'a stream that counts nothing before its text, and never again',
    script: scripts.stream(usage(0, 0), TEXT, CHUNK_STOP, DONE),
    body: STREAM,
    case: 'complete',
    source: 'estimate',
    input: 'estimate',
    output: 10,
  },
  {
    what: 'a stream with a count in its middle and three more chunks',
    script: scripts.stream(TEXT, usage(5, 1), TEXT, TEXT, TEXT, CHUNK_STOP, DONE),
    body: STREAM,
    case: 'complete',
    source: 'estimate',
    input: 5,
    output: 40,
  },
  {
    what: 'a stream with a count in its middle that is more than its text comes to',
    script: scripts.stream(TEXT, usage(5, 70), TEXT, CHUNK_STOP, DONE),
    body: STREAM,
    case: 'complete',
    source: 'estimate',
    input: 5,
    output: 70,
  },
  {
    what: 'a stream that counts anew with every chunk',
    script: scripts.stream(withUsage(TEXT, 5, 3), withUsage(TEXT, 5, 7), CHUNK_STOP, DONE),
    body: STREAM,
    case: 'complete',
    source: 'provider',
    input: 5,
    output: 7,
  },
  {
    what: 'a stream whose last count is of zeros',
    script: scripts.stream(TEXT, CHUNK_STOP, usage(5, 7), usage(0, 0), DONE),
    body: STREAM,
    case: 'complete',
    source: 'provider',
    input: 5,
    output: 7,
  },
  {
    what: 'a whole answer with more tokens than its model can make',
    script: whole({ usage: { prompt_tokens: 1e9, completion_tokens: 1e9 } }),
    case: 'complete',
    source: 'bounded',
    input: 'estimate',
    output: 10,
  },
  {
    what: 'a stream with more tokens than its model can make',
    script: scripts.stream(TEXT, CHUNK_STOP, usage(1e9, 1e9), DONE),
    body: STREAM,
    case: 'complete',
    source: 'bounded',
    input: 'estimate',
    output: 10,
  },
  {
    what: 'two choices of a stream without usage',
    script: scripts.stream(TEXT, TEXT.replace('"index":0', '"index":1'), CHUNK_STOP, DONE),
    body: { ...STREAM, n: 2 },
    case: 'complete',
    source: 'estimate',
    input: 'estimate',
    output: 20,
  },
  {
    what: 'a stream whose client left after content',
    script: scripts.streamThenHang(TEXT),
    body: STREAM,
    act: leaveAfter('xxx'),
    case: 'partial',
    source: 'estimate',
    input: 'estimate',
    output: 10,
  },
  {
    what: 'a stream whose client left after the text, before the usage',
    script: scripts.streamThenHang(TEXT, CHUNK_STOP),
    body: STREAM,
    act: leaveAfter('"stop"'),
    case: 'partial',
    source: 'estimate',
    input: 'estimate',
    output: 10,
  },
  {
    what: 'a stream whose client left before content',
    script: scripts.streamThenHang(CHUNK_ROLE),
    body: STREAM,
    act: leaveEarly,
    case: 'given_up',
    source: 'estimate',
    input: 'estimate',
    output: 0,
  },
  {
    what: 'a stream that was cut after content',
    script: scripts.streamThenCut(CHUNK_ROLE, TEXT),
    body: STREAM,
    case: 'partial',
    source: 'estimate',
    input: 'estimate',
    output: 10,
  },
  {
    what: 'a stream that was cut between usage and end',
    script: scripts.streamThenCut(TEXT, CHUNK_STOP, CHUNK_USAGE),
    body: STREAM,
    case: 'partial',
    source: 'provider',
    input: 5,
    output: 7,
  },
  {
    what: 'a stream that was cut before content',
    script: scripts.streamThenCut(CHUNK_ROLE),
    body: STREAM,
    case: 'no_bytes',
    source: 'none',
    input: 0,
    output: 0,
    ourCost: 'input',
  },
];

describe('the abort policy', () => {
  it.each(ROWS)('$what is $case by $source', async ({ script, body = {}, act = read, input, output, ...expected }) => {
    const event = await settledBy(script, act, body);
    const tokens = input === 'estimate' ? event.estimate.input_tokens : input;
    if (input === 'estimate') expect(tokens).toBeGreaterThan(5);
    expect(event).toMatchObject({
      abort_case: expected.case,
      usage_source: expected.source,
      usage: { input: tokens, output },
      billed_nanousd: tokens * INPUT + output * OUTPUT,
      cost_nanousd: (expected.ourCost === 'input' ? event.estimate.input_tokens : tokens) * INPUT + output * OUTPUT,
    });
  });

  it('a call that the gateway left open is billed its expected input and no output, and twice is once', async () => {
    const upstream = await startScriptedUpstream(scripts.hang);
    const gateway = await startGateway({ primary: upstream.url });
    const asking = leaveEarly(gateway, {}, upstream);
    await eventually(() => expect(gateway.started).toHaveLength(1));
    const started = gateway.started[0] as CallStarted;
    await asking;
    await gateway.close();
    await upstream.close();
    const event = interruptedEvent(started, systemClock);
    const input = started.reservation.input_tokens;
    expect(input).toBeGreaterThan(0);
    expect(event).toMatchObject({
      abort_case: 'interrupted',
      usage_source: 'estimate',
      usage: { input, output: 0 },
      billed_nanousd: input * INPUT,
      cost_nanousd: input * INPUT,
    });
    expect(interruptedEvent(started, systemClock).event_id).toBe(event.event_id);
  });
});
