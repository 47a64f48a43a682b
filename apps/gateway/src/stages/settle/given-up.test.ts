import { type CallStarted, systemClock } from '@sluice/contracts';
import { eventually } from '@sluice/testing';
import { interruptedEvent } from '../../metering/usage-events.ts';
import { chatBody, startGateway, type GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { SAMPLE_KEYS, type RawSnapshot } from '../../testing/sample-snapshot.ts';
import {
  CHUNK_ROLE,
  contentChunk,
  scripts,
  startScriptedUpstream,
  type Script,
  type ScriptedUpstream,
} from '../../testing/scripted-upstream.ts';

const PER_MINUTE = 60_000;
/** 60,000 characters: about 15,000 tokens. */
const LONG = 'word '.repeat(12_000);
const LONG_TOKENS = LONG.length / 4;
const MONTH = { id: 'month', meter: 'total_tokens', limit: 1_000_000, mode: 'hard' } as const;

function limit(raw: RawSnapshot): void {
  Object.assign(raw.keys.acmekey001 as object, {
    limits: {
      tokens: { perMinute: PER_MINUTE },
      quotas: [{ ...MONTH, span: { kind: 'calendar', period: 'month' } }],
    },
  });
}

async function withGateway(
  script: Script,
  act: (gateway: GatewayUnderTest, upstream: ScriptedUpstream) => Promise<void>,
  change: (raw: RawSnapshot) => void = limit,
): Promise<void> {
  const upstream = await startScriptedUpstream(script);
  const gateway = await startGateway({ primary: upstream.url, change });
  try {
    await act(gateway, upstream);
  } finally {
    await gateway.close();
    await upstream.close();
  }
}

/** Leaves once the provider has the call, or once it was refused. */
async function cutOnceSent(gateway: GatewayUnderTest, upstream: ScriptedUpstream, body: object): Promise<void> {
  const before = upstream.requests.length;
  const abort = new AbortController();
  const asking = gateway.chat(body, { signal: abort.signal }).then(
    (answer) => answer.text(),
    () => undefined,
  );
  const ended = gateway.ends.length;
  await eventually(() => expect(upstream.requests.length + gateway.ends.length).toBeGreaterThan(before + ended));
  abort.abort();
  await asking;
  await eventually(() => expect(gateway.ends.length).toBe(ended + 1));
}

const prompt = { messages: [{ role: 'user', content: LONG }] };
const used = (gateway: GatewayUnderTest) => gateway.view().quotas.find(({ window }) => window === 'month')?.used ?? 0;

describe('a call that is given up before any content', () => {
  it.each([
    ['before the head', scripts.hang, {}],
    ['after the head of a stream', scripts.streamThenHang(CHUNK_ROLE), { stream: true }],
  ])(
    '%s keeps its input in the token bucket: 50 of them send one minute’s worth upstream',
    async (_when, script, more) => {
      await withGateway(script, async (gateway, upstream) => {
        for (let i = 0; i < 50; i += 1) await cutOnceSent(gateway, upstream, { ...prompt, ...more, max_tokens: 10 });
        const tokensSent = upstream.requests.length * LONG_TOKENS;
        expect(tokensSent).toBeGreaterThanOrEqual(PER_MINUTE - LONG_TOKENS);
        expect(tokensSent).toBeLessThanOrEqual(PER_MINUTE + LONG_TOKENS);
        expect(gateway.ends.filter(({ outcome }) => outcome === 'throttled').length).toBe(
          50 - upstream.requests.length,
        );
        const inputs = gateway.settled.reduce((sum, { usage }) => sum + usage.input, 0);
        expect(inputs).toBeGreaterThanOrEqual(tokensSent);
        expect(used(gateway)).toBe(inputs);
      });
    },
  );

  it.each([
    ["the caller's own deadline", (_raw: RawSnapshot) => undefined, { 'x-sluice-timeout-ms': '80' }],
    [
      'a deadline that its workspace has set short',
      (raw: RawSnapshot) =>
        void ((raw.plans.team as { policy: Record<string, unknown> }).policy.deadlines = { firstByteMs: 80 }),
      {},
    ],
  ])('by %s is billed its input and costs us as much', async (_what, change, headers) => {
    await withGateway(
      scripts.hang,
      async (gateway) => {
        await (await gateway.chat({}, { headers })).text();
        await eventually(() => expect(gateway.settled).toHaveLength(1));
        const [event] = gateway.settled;
        expect(event).toMatchObject({
          abort_case: 'given_up',
          usage: { output: 0 },
          usage_source: 'estimate',
          attempts: [{ usage_source: 'estimate', usage: { input: event?.usage.input } }],
        });
        expect(event?.usage.input).toBeGreaterThan(0);
        expect(event?.billed_nanousd).toBe((event?.usage.input ?? 0) * 1_000);
        expect(event?.cost_nanousd).toBe((event?.usage.input ?? 0) * 1_000 * (event?.attempts.length ?? 0));
      },
      (raw) => {
        limit(raw);
        change(raw);
      },
    );
  });

  it('is billed the same as one whose gateway died with it', async () => {
    await withGateway(scripts.hang, async (gateway, upstream) => {
      await cutOnceSent(gateway, upstream, prompt);
      const [event] = gateway.settled;
      const dead = interruptedEvent(gateway.started[0] as CallStarted, systemClock);
      expect(event?.usage.input).toBeGreaterThanOrEqual(LONG_TOKENS);
      expect([dead.usage, dead.billed_nanousd, dead.cost_nanousd]).toEqual([
        event?.usage,
        event?.billed_nanousd,
        event?.cost_nanousd,
      ]);
    });
  });
});

describe('a call that its provider failed', () => {
  it.each([
    ['an error status', scripts.status(500), 0],
    ['a stream that breaks off before content', scripts.streamThenCut(CHUNK_ROLE), 1],
  ])(
    'by %s is billed nothing and takes no quota; what the provider charges is our cost',
    async (_how, script, cost) => {
      await withGateway(script, async (gateway) => {
        await (await gateway.chat({ stream: true })).text();
        await eventually(() => expect(gateway.settled).toHaveLength(1));
        const [event] = gateway.settled;
        expect(event).toMatchObject({ abort_case: 'no_bytes', usage_source: 'none', billed_nanousd: 0 });
        expect(Math.sign(event?.cost_nanousd ?? 0)).toBe(cost);
        expect(used(gateway)).toBe(0);
      });
    },
  );
});

it('a stream that is left after its first content keeps its input in the quota', async () => {
  await withGateway(scripts.streamThenHang(contentChunk('Hi')), async (gateway) => {
    const abort = new AbortController();
    const answer = await gateway.chat({ ...prompt, stream: true }, { signal: abort.signal });
    await answer.body?.getReader().read();
    abort.abort();
    await eventually(() => expect(gateway.settled).toHaveLength(1));
    expect(used(gateway)).toBeGreaterThanOrEqual(LONG_TOKENS);
  });
});

it('a count of tokens that is given up, or whose gateway dies, is free', async () => {
  const counting = (raw: RawSnapshot): void => {
    Object.assign(raw.providers.primary as object, { dialect: 'anthropic' });
    (raw.plans.team as { policy: { routing: object } }).policy.routing = { chain: [{ provider: 'primary' }] };
  };
  await withGateway(
    scripts.hang,
    async (gateway, upstream) => {
      const abort = new AbortController();
      const asking = fetch(`${gateway.url}/v1/messages/count_tokens`, {
        method: 'POST',
        headers: { 'x-api-key': SAMPLE_KEYS.acme, 'content-type': 'application/json' },
        body: chatBody(),
        signal: abort.signal,
      }).catch(() => undefined);
      await eventually(() => expect(upstream.requests).toHaveLength(1));
      abort.abort();
      await asking;
      await eventually(() => expect(gateway.settled).toHaveLength(1));
      expect(gateway.settled[0]).toMatchObject({ billed_nanousd: 0, cost_nanousd: 0, usage: { input: 0 } });
      expect(interruptedEvent(gateway.started[0] as CallStarted, systemClock)).toMatchObject({ billed_nanousd: 0 });
    },
    counting,
  );
});
