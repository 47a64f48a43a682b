import { CallSettled } from '@sluice/contracts';
import { eventually } from '@sluice/testing';
import {
  chatBody,
  startGateway,
  type GatewayOptions,
  type GatewayUnderTest,
} from '../../testing/gateway-under-test.ts';
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
import { SAMPLE_KEYS, type RawSnapshot } from '../../testing/sample-snapshot.ts';

const FAST = { totalMs: 400, firstByteMs: 200, idleMs: 200 };

function policyOf(raw: RawSnapshot): Record<string, unknown> & { limits: Record<string, unknown> } {
  return (raw.plans.team as { policy: Record<string, unknown> & { limits: Record<string, unknown> } }).policy;
}

async function run(script: Script, act: Act, options: Partial<GatewayOptions> = {}) {
  const upstream = await startScriptedUpstream(script);
  const gateway = await startGateway({ primary: upstream.url, ...options });
  try {
    await act(gateway, upstream);
    await eventually(() => expect(gateway.ends.length).toBeGreaterThan(0));
    await eventually(() => expect(gateway.server.inFlight).toBe(0));
    return { gateway, view: gateway.view(), slots: gateway.slotsInUse(), beating: gateway.heartbeats.size };
  } finally {
    await gateway.close();
    await upstream.close();
  }
}

const read = async (gateway: GatewayUnderTest, body: object = {}) => (await gateway.chat(body)).text();

const post = async (gateway: GatewayUnderTest, path: string, body: object) =>
  (
    await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SAMPLE_KEYS.acme}`, 'content-type': 'application/json' },
      body: chatBody(body),
    })
  ).text();

/** Closes the connection once the stream's first bytes are here. */
async function leaveAfterContent(gateway: GatewayUnderTest): Promise<void> {
  const abort = new AbortController();
  const answer = await gateway.chat(stream, { signal: abort.signal });
  await answer.body?.getReader().read();
  abort.abort();
}

/** Closes the connection as soon as the call has come as far as is said. */
async function leaveOnce(gateway: GatewayUnderTest, body: object, hasCome: () => boolean): Promise<void> {
  const abort = new AbortController();
  const asking = gateway.chat(body, { signal: abort.signal }).catch(() => undefined);
  await eventually(() => expect(hasCome()).toBe(true));
  abort.abort();
  await asking;
}

/** Closes the connection as soon as the provider has the request. */
const leaveOnceAsked: Act = (gateway, upstream) => leaveOnce(gateway, {}, () => upstream.requests.length === 1);

type Act = (gateway: GatewayUnderTest, upstream: ScriptedUpstream) => Promise<unknown>;

interface Ending {
  readonly name: string;
  readonly script: Script;
  readonly act: Act;
  readonly outcome: string;
  readonly options?: Partial<GatewayOptions>;
}

const deadlines = { change: (raw: RawSnapshot) => void (policyOf(raw).deadlines = FAST) };
const fail = (what: string) => ({
  beforeAppend: (kind: string) => {
    if (kind === what) throw new Error('the disk is full');
  },
});
const stream = { stream: true };

const ENDINGS: readonly Ending[] = [
  { name: 'a whole answer', script: scripts.whole, act: read, outcome: 'ok' },
  {
    name: 'a whole stream',
    script: scripts.stream(CHUNK_ROLE, contentChunk('Hi'), CHUNK_STOP, CHUNK_USAGE, DONE),
    act: (g) => read(g, stream),
    outcome: 'ok',
  },
  { name: 'an error status of the provider', script: scripts.status(500), act: read, outcome: 'upstream_error' },
  { name: 'a rate limit of the provider', script: scripts.status(429), act: read, outcome: 'upstream_error' },
  {
    name: "a refusal of the caller's request by the provider",
    script: scripts.status(400),
    act: read,
    outcome: 'client_error',
  },
  { name: 'a connection that the provider resets', script: scripts.reset, act: read, outcome: 'upstream_error' },
  {
    name: 'an answer that cannot be read',
    script: (response) => response.writeHead(200).end('nonsense'),
    act: read,
    outcome: 'upstream_error',
  },
  { name: 'a provider that never answers', script: scripts.hang, act: read, outcome: 'timeout', options: deadlines },
  {
    name: 'a stream that is cut after content',
    script: scripts.streamThenCut(CHUNK_ROLE, contentChunk('Hi')),
    act: (g) => read(g, stream),
    outcome: 'upstream_error',
  },
  {
    name: 'a stream that falls silent after content',
    script: scripts.streamThenHang(CHUNK_ROLE, contentChunk('Hi')),
    act: (g) => read(g, stream),
    outcome: 'timeout',
    options: deadlines,
  },
  {
    name: 'a client that leaves before the head of the answer',
    script: scripts.hang,
    act: leaveOnceAsked,
    outcome: 'cancelled',
  },
  {
    name: 'a client that leaves after the head, before content',
    script: scripts.streamThenHang(CHUNK_ROLE),
    act: (g, upstream) => leaveOnce(g, stream, () => upstream.requests.length === 1),
    outcome: 'cancelled',
  },
  {
    name: 'a client that leaves after content',
    script: scripts.streamThenHang(CHUNK_ROLE, contentChunk('Hi')),
    act: leaveAfterContent,
    outcome: 'cancelled',
  },
  {
    name: "the caller's own deadline",
    script: scripts.hang,
    act: (g) => g.chat({}, { headers: { 'x-sluice-timeout-ms': '60' } }),
    outcome: 'cancelled',
  },
  {
    name: 'a start that cannot be recorded',
    script: scripts.whole,
    act: read,
    outcome: 'shed',
    options: fail('started'),
  },
  {
    name: 'an end that cannot be recorded',
    script: scripts.whole,
    act: read,
    outcome: 'shed',
    options: fail('settled'),
  },
  {
    name: 'a stream whose end cannot be recorded',
    script: scripts.stream(CHUNK_ROLE, contentChunk('Hi'), DONE),
    act: (g) => read(g, stream),
    outcome: 'shed',
    options: fail('settled'),
  },
  {
    name: 'a model that no provider serves',
    script: scripts.whole,
    act: read,
    outcome: 'client_error',
    options: { change: (raw) => void Object.assign(raw.providers.primary as object, { enabled: false }) },
  },
  {
    name: 'a message request with a number of choices below zero',
    script: scripts.status(400),
    act: (g) => post(g, '/v1/messages', { max_tokens: 9, n: -3 }),
    outcome: 'client_error',
    options: { change: (raw) => void Object.assign(raw.providers.primary as object, { dialect: 'anthropic' }) },
  },
  {
    name: 'a count beyond all sense',
    script: (response) =>
      response.writeHead(200).end('{"choices":[],"usage":{"prompt_tokens":9007199254740991,"completion_tokens":1}}'),
    act: read,
    outcome: 'ok',
  },
  {
    name: 'a store that fails while a call leaves the queue',
    script: scripts.whole,
    act: (g) => Promise.all([read(g), read(g)]),
    outcome: 'internal_error',
    options: {
      wrapLimits: (limits) => ({
        ...limits,
        leaveQueue: async (lease) => {
          await limits.leaveQueue(lease);
          throw new Error('the store is gone');
        },
      }),
      change: oneSlot,
    },
  },
];

function oneSlot(raw: RawSnapshot): void {
  Object.assign(raw.providers.primary as object, { credentials: [{ id: 'default', slots: 1 }] });
}

describe('after every kind of ending', () => {
  it.each(ENDINGS)(
    '$name: slot, place and reservation are given back, once',
    async ({ script, act, outcome, options }) => {
      const { gateway, view, slots, beating } = await run(script, act, options);
      expect(gateway.ends[0]?.outcome).toBe(outcome);
      expect(slots).toBe(0);
      expect(beating).toBe(0);
      expect(view).toMatchObject({ inFlight: 0, queued: 0 });
      expect(gateway.settlements).toHaveLength(gateway.calls.filter((call) => call.lease !== undefined).length);
      expect(gateway.settled.length).toBeLessThanOrEqual(gateway.started.length);
      expect(new Set(gateway.settled.map((event) => event.request_id)).size).toBe(gateway.settled.length);
      // What the ledger cannot read is billed to nobody, and the outbox waits for it for ever.
      for (const event of gateway.settled)
        expect(CallSettled.safeParse({ ...event, gateway_id: 'gw-1', epoch: 1, sequence: 1 }).error).toBeUndefined();
    },
  );

  it('a word of the provider for the end that no ledger could store is recorded in a form that it can', async () => {
    const body = JSON.stringify({
      choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: `a\u0000b\ud83d${'x'.repeat(300_000)}` }],
    });
    const { gateway } = await run((response) => response.writeHead(200).end(body), read);
    expect(gateway.settled[0]?.finish_reason).toBe(`a\ufffdb\ufffd${'x'.repeat(96)}`);
  });

  it('a client that leaves while it waits in the queue gives its place up and costs nothing', async () => {
    const { gateway, view, slots } = await run(
      scripts.hang,
      async (g) => {
        const [first, second] = [new AbortController(), new AbortController()];
        const ask = ({ signal }: AbortController) => g.chat({}, { signal }).catch(() => undefined);
        const asking = [ask(first)];
        await eventually(() => expect(g.slotsInUse()).toBe(1));
        asking.push(ask(second));
        await eventually(() => expect(g.view().queued).toBe(1));
        second.abort();
        await eventually(() => expect(g.ends).toHaveLength(1));
        first.abort();
        await eventually(() => expect(g.ends).toHaveLength(2));
        await Promise.all(asking);
      },
      { change: oneSlot },
    );
    expect(gateway.ends.map((end) => end.outcome)).toEqual(['cancelled', 'cancelled']);
    expect(gateway.started).toHaveLength(1);
    expect(gateway.settlements[0]).toEqual({ kind: 'unused' });
    expect(slots).toBe(0);
    expect(view).toMatchObject({ inFlight: 0, queued: 0 });
  });

  it('a client that leaves between two attempts is not sent on', async () => {
    const upstream = await startScriptedUpstream(scripts.status(500));
    const gateway = await startGateway({
      primary: upstream.url,
      change: (raw) => void (policyOf(raw).retries = { maxAttempts: 3, baseDelayMs: 10_000, maxDelayMs: 10_000 }),
      random: () => 0.99,
    });
    await leaveOnce(gateway, {}, () => upstream.requests.length === 1);
    await eventually(() => expect(gateway.ends).toHaveLength(1));
    expect(gateway.ends[0]).toMatchObject({ outcome: 'cancelled', status: 499 });
    expect(upstream.requests).toHaveLength(1);
    expect(gateway.slotsInUse()).toBe(0);
    await gateway.close();
    await upstream.close();
  });
});

describe('what goes back', () => {
  const limited = {
    change: (raw: RawSnapshot) => {
      policyOf(raw).limits.requests = { perMinute: 1, burst: 5 };
      policyOf(raw).limits.tokens = { perMinute: 60_000 };
      policyOf(raw).limits.quotas = [
        { id: 'day', meter: 'total_tokens', limit: 1_000_000, mode: 'hard', span: { kind: 'calendar', period: 'day' } },
      ];
    },
  };
  const left = async (script: Script, act: Act, more: Partial<GatewayOptions> = {}) => {
    const { view } = await run(script, act, { ...limited, ...more });
    return { requests: view.requests?.remaining, used: view.quotas[0]?.used };
  };

  it('everything, the rate too, when the call was refused before the first upstream byte', async () => {
    expect(await left(scripts.whole, read, fail('started'))).toEqual({ requests: 5, used: 0 });
    expect(await left(scripts.reset, read)).toEqual({ requests: 5, used: 0 });
  });

  it('quota and tokens, but not the request, when a provider answered with an error: else errors were free of the rate', async () => {
    expect(await left(scripts.status(400), read)).toEqual({ requests: 4, used: 0 });
  });

  it('nothing of the input when the caller left while a provider was at work, which charges it', async () => {
    expect(await left(scripts.hang, leaveOnceAsked)).toEqual({ requests: 4, used: 17 });
  });

  it('the difference between what was expected and what was used', async () => {
    expect(await left(scripts.whole, read)).toEqual({ requests: 4, used: 12 });
  });
});
