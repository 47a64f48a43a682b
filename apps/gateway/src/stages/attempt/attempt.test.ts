import { eventually } from '@sluice/testing';
import { startGateway, type GatewayOptions, type GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { RawSnapshot } from '../../testing/sample-snapshot.ts';
import {
  CHUNK_ROLE,
  contentChunk,
  DONE,
  scripts,
  startScriptedUpstream,
  type Script,
  type ScriptedUpstream,
} from '../../testing/scripted-upstream.ts';

async function withGateway(
  script: Script,
  act: (gateway: GatewayUnderTest, upstream: ScriptedUpstream) => Promise<void>,
  options: Partial<GatewayOptions> = {},
): Promise<void> {
  const upstream = await startScriptedUpstream(script);
  const gateway = await startGateway({ primary: upstream.url, ...options });
  try {
    await act(gateway, upstream);
  } finally {
    await gateway.close();
    await upstream.close();
  }
}

const calls = (gateway: GatewayUnderTest) =>
  gateway.breakers.report().find((breaker) => breaker.provider === 'primary')?.calls;

/** Leaves a little after the gateway has come as far as is said: a slow machine may take long until then. */
async function leave(gateway: GatewayUnderTest, body: object, hasCome: () => boolean = () => true): Promise<void> {
  const abort = new AbortController();
  const timer = setInterval(() => hasCome() && abort.abort(), 80);
  await gateway
    .chat(body, { signal: abort.signal })
    .then((answer) => answer.text())
    .catch(() => undefined);
  clearInterval(timer);
}

describe('the breaker of a provider', () => {
  it.each([
    ['leaves before the head', scripts.hang, {}],
    ['leaves after content', scripts.streamThenHang(CHUNK_ROLE, contentChunk('Hi')), { stream: true }],
  ])('hears nothing of a caller that %s', async (_how, script, body) => {
    await withGateway(script, async (gateway) => {
      await leave(gateway, body, () => gateway.started.length > 0);
      await eventually(() => expect(gateway.ends).toHaveLength(1));
      expect(gateway.ends[0]?.outcome).toBe('cancelled');
      expect(calls(gateway)).toBe(0);
    });
  });

  it.each([
    ["the caller's own deadline", scripts.hang, {}, { 'x-sluice-timeout-ms': '60' }],
    [
      "a customer's total deadline in the middle of a healthy stream",
      scripts.streamThenHang(contentChunk('Hi')),
      { stream: true },
      {},
    ],
    ['a request that the provider refuses', scripts.status(400), {}, {}],
    ['a rate limit', scripts.status(429), {}, {}],
  ])('hears nothing of %s', async (_what, script, body, headers) => {
    await withGateway(
      script,
      async (gateway) => {
        await (await gateway.chat(body, { headers })).text();
        await eventually(() => expect(gateway.ends).toHaveLength(1));
        expect(calls(gateway)).toBe(0);
      },
      {
        change: (raw: RawSnapshot) =>
          void ((raw.plans.team as { policy: Record<string, unknown> }).policy.deadlines = {
            totalMs: 150,
            firstByteMs: 600,
            idleMs: 10_000,
          }),
      },
    );
  });

  it.each([
    ['an error', scripts.status(500), {}],
    ['a stream that is cut after content', scripts.streamThenCut(contentChunk('Hi')), { stream: true }],
    ['a stream that never begins', scripts.stream(CHUNK_ROLE), { stream: true }],
  ])('hears of %s', async (_what, script, body) => {
    await withGateway(script, async (gateway) => {
      await (await gateway.chat(body)).text();
      await eventually(() => expect(gateway.ends).toHaveLength(1));
      expect(gateway.breakers.report()).toMatchObject([{ calls: 1, failure_percent: 100 }]);
    });
  });
});

describe('calls that waited for a slot', () => {
  const oneSlot = (raw: RawSnapshot) => {
    Object.assign(raw.providers.primary as object, {
      credentials: [{ id: 'default', slots: 1 }],
      breaker: { failurePercent: 100, minimumCalls: 1, cooldownMs: 10_000 },
    });
  };

  it.each([
    ['whose breaker opened meanwhile', 500, 'upstream_unavailable'],
    ['whose account rests meanwhile', 429, 'upstream_rate_limited'],
  ])('are not sent to a provider %s', async (_what, status, code) => {
    const { promise: allWait, resolve: answer } = Promise.withResolvers<void>();
    await withGateway(
      (response, request, body) => void allWait.then(() => scripts.status(status)(response, request, body)),
      async (gateway, upstream) => {
        const asking = Promise.all([gateway.chat(), gateway.chat(), gateway.chat()]);
        await eventually(() => expect(gateway.slotsInUse()).toBe(3));
        answer();
        const answers = await asking;
        expect(answers.map((answer) => answer.headers.get('x-sluice-refusal'))).toEqual([code, code, code]);
        await eventually(() => expect(gateway.ends).toHaveLength(3));
        expect(upstream.requests).toHaveLength(1);
        expect(gateway.slotsInUse()).toBe(0);
        expect(gateway.settlements.filter((settlement) => settlement.kind === 'unused')).toHaveLength(2);
      },
      { change: oneSlot },
    );
  });
});

describe('an answer that the adapter cannot take', () => {
  it.each([
    [
      'a preamble without end',
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.on('error', () => undefined);
        const more = (): void => {
          while (!response.destroyed && response.write(CHUNK_ROLE.repeat(50)));
          if (!response.destroyed) response.once('drain', more);
        };
        more();
      },
      'upstream_malformed',
    ],
    [
      'a line without end',
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.on('error', () => undefined);
        const more = (): void => {
          while (!response.destroyed && response.write('x'.repeat(10_000)));
          if (!response.destroyed) response.once('drain', more);
        };
        more();
      },
      'upstream_malformed',
    ],
    [
      'an error body without end',
      (response) => {
        response.writeHead(500, { 'content-type': 'application/json' });
        response.on('error', () => undefined);
        const more = (): void => {
          while (!response.destroyed && response.write(' '.repeat(10_000)));
          if (!response.destroyed) response.once('drain', more);
        };
        more();
      },
      'upstream_unavailable',
    ],
    [
      'another status than asked for',
      (response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
      'upstream_malformed',
    ],
  ] as [string, Script, string][])('%s is refused in time and its slot is free', async (_what, script, code) => {
    await withGateway(script, async (gateway) => {
      const answer = await gateway.chat({ stream: true });
      expect(answer.headers.get('x-sluice-refusal')).toBe(code);
      await eventually(() => expect(gateway.ends).toHaveLength(1));
      expect(gateway.slotsInUse()).toBe(0);
    });
  });
});

describe('what reaches the caller', () => {
  it("is the provider's own body and status for a fault of the caller's, and the record says the same", async () => {
    const body = '{"error":{"message":"bad temperature","type":"invalid_request_error"}}';
    await withGateway(scripts.status(422, body), async (gateway) => {
      const answer = await gateway.chat();
      expect(answer.status).toBe(422);
      expect(await answer.text()).toBe(body);
      await eventually(() => expect(gateway.ends[0]).toMatchObject({ status: 422, outcome: 'client_error' }));
      expect(gateway.settled[0]).toMatchObject({ status: 422, outcome: 'client_error', billed_nanousd: 0 });
    });
  });

  it('is nothing of what a provider says about our account', async () => {
    await withGateway(scripts.status(401, '{"error":{"message":"key sk-live-123 is wrong"}}'), async (gateway) => {
      const answer = await gateway.chat();
      expect(answer.status).toBe(502);
      expect(await answer.text()).not.toContain('sk-live');
    });
  });

  it('is one answer, from the next provider, when the first fails before content', async () => {
    const second = await startScriptedUpstream(scripts.stream(contentChunk('second'), DONE));
    await withGateway(
      scripts.streamThenCut(CHUNK_ROLE),
      async (gateway) => {
        const answer = await gateway.chat({ stream: true });
        expect(answer.headers.get('x-sluice-fallback')).toBe('true');
        expect(await answer.text()).toBe(contentChunk('second') + DONE);
        await eventually(() => expect(gateway.settled).toHaveLength(1));
        expect(gateway.started).toHaveLength(1);
        expect(gateway.settled[0]).toMatchObject({ outcome: 'ok', fallback: true, provider: 'secondary' });
        expect(gateway.slotsInUse()).toBe(0);
      },
      { second: second.url },
    );
    await second.close();
  });
});

describe('a provider', () => {
  it('hears nothing of a caller that left before the call was recorded', async () => {
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    await withGateway(
      scripts.whole,
      async (gateway, upstream) => {
        await leave(gateway, {}, () => gateway.begun.length > 0);
        await eventually(() => expect(gateway.begun[0]?.cancel.reason).toBeDefined());
        open();
        await eventually(() => expect(gateway.ends).toHaveLength(1));
        expect(gateway.ends[0]?.outcome).toBe('cancelled');
        expect(gateway.settled).toHaveLength(1);
        expect(gateway.settlements).toEqual([expect.objectContaining({ kind: 'unused' })]);
        expect(upstream.requests).toHaveLength(0);
      },
      { beforeAppend: (what) => (what === 'started' ? opened : undefined) },
    );
  });
});
