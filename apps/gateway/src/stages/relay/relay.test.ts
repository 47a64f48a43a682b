import { connect } from 'node:net';
import { eventually } from '@sluice/testing';
import {
  chatBody,
  startGateway,
  type GatewayOptions,
  type GatewayUnderTest,
} from '../../testing/gateway-under-test.ts';
import { SAMPLE_KEYS, type RawSnapshot } from '../../testing/sample-snapshot.ts';
import {
  CHUNK_ROLE,
  CHUNK_STOP,
  CHUNK_USAGE,
  contentChunk,
  DONE,
  scripts,
  startScriptedUpstream,
  type Script,
} from '../../testing/scripted-upstream.ts';

async function withGateway<T>(
  script: Script,
  act: (gateway: GatewayUnderTest) => Promise<T>,
  options: Partial<GatewayOptions> = {},
): Promise<T> {
  const upstream = await startScriptedUpstream(script);
  const gateway = await startGateway({ primary: upstream.url, ...options });
  try {
    return await act(gateway);
  } finally {
    await gateway.close();
    await upstream.close();
  }
}

const text = async (gateway: GatewayUnderTest, init: { headers?: Record<string, string> } = {}) =>
  (await gateway.chat({ stream: true }, init)).text();
const hold = (holdMs: number, idleMs = 20_000) => ({
  change: (raw: RawSnapshot) => {
    const { policy } = raw.plans.team as { policy: { routing: Record<string, unknown>; deadlines?: object } };
    policy.routing.holdMs = holdMs;
    policy.deadlines = { firstByteMs: 20_000, idleMs, totalMs: 30_000 };
  },
});

describe('a stream', () => {
  it('that comes altogether in one turn loses no event', async () => {
    const words = ['One', ' two', ' three', ' four'];
    await withGateway(
      scripts.stream(CHUNK_ROLE, ...words.map(contentChunk), CHUNK_STOP, CHUNK_USAGE, DONE),
      async (gateway) => {
        expect(await text(gateway)).toBe([CHUNK_ROLE, ...words.map(contentChunk), CHUNK_STOP, DONE].join(''));
      },
    );
  });

  it('whose end marker is split over writes is sent whole', async () => {
    await withGateway(
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(contentChunk('Hi'));
        const rest = [...(CHUNK_STOP + DONE)];
        const next = (): void => {
          const part = rest.splice(0, 25).join('');
          if (part === '') response.end();
          else {
            response.write(part);
            setTimeout(next, 2);
          }
        };
        setTimeout(next, 10);
      },
      async (gateway) => {
        expect(await text(gateway)).toBe(contentChunk('Hi') + CHUNK_STOP + DONE);
        await eventually(() => expect(gateway.ends[0]?.outcome).toBe('ok'));
      },
    );
  });

  it.each([
    ['cut', scripts.streamThenCut(CHUNK_ROLE, contentChunk('Hi')), 'upstream_unavailable'],
    [
      'failed by the provider',
      scripts.stream(CHUNK_ROLE, contentChunk('Hi'), 'data: {"error":{"message":"boom","code":"x"}}\n\n', DONE),
      'upstream_unavailable',
    ],
    ['ended without its marker', scripts.stream(CHUNK_ROLE, contentChunk('Hi')), 'upstream_unavailable'],
  ])('that was %s after content ends with an error and never with an end marker', async (_how, script, code) => {
    await withGateway(script, async (gateway) => {
      const body = await text(gateway);
      expect(body).toContain('Hi');
      expect(body).toContain(code);
      expect(body).not.toContain('[DONE]');
      expect(body).not.toContain('boom');
      await eventually(() =>
        expect(gateway.settled[0]).toMatchObject({
          outcome: 'upstream_error',
          status: 200,
          abort_case: 'partial',
          attempts: [{ outcome: expect.stringMatching(/truncated|http_error/) }],
        }),
      );
    });
  });

  it('that meets the rate limit after content rests the account that it used', async () => {
    const limited =
      'data: {"error":{"message":"Rate limit reached","type":"rate_limit_exceeded","code":"rate_limit_exceeded"}}\n\n';
    await withGateway(scripts.stream(CHUNK_ROLE, contentChunk('Hi'), limited), async (gateway) => {
      expect(await text(gateway)).toContain('The model provider is limiting requests.');
      await eventually(() => expect(gateway.settled).toHaveLength(1));
      expect((await gateway.chat({})).status).toBe(429);
      expect(gateway.settled).toHaveLength(1);
    });
  });

  it('that falls silent after content is recorded as a timeout of its attempt', async () => {
    await withGateway(
      scripts.streamThenHang(contentChunk('Hi')),
      async (gateway) => {
        expect(await text(gateway)).toContain('upstream_timeout');
        await eventually(() =>
          expect(gateway.settled[0]).toMatchObject({ outcome: 'timeout', attempts: [{ outcome: 'timeout' }] }),
        );
      },
      hold(8_000, 300),
    );
  });

  it('whose first content comes late is begun after the hold time with the rate headers, and fails within the stream', async () => {
    await withGateway(
      (response) => setTimeout(() => response.writeHead(500).end('{}'), 300),
      async (gateway) => {
        const answer = await gateway.chat({ stream: true });
        expect(answer.status).toBe(200);
        expect(answer.headers.get('x-ratelimit-limit-requests')).toBe('100');
        const body = await answer.text();
        expect(body).toContain('upstream_unavailable');
        expect(body).not.toContain('[DONE]');
        await eventually(() => expect(gateway.ends[0]).toMatchObject({ outcome: 'upstream_error', status: 200 }));
        expect(gateway.settled[0]).toMatchObject({ status: 200, abort_case: 'no_bytes', billed_nanousd: 0 });
      },
      hold(100),
    );
  });

  it('begun after the hold time goes on with the answer of the next provider', async () => {
    const second = await startScriptedUpstream(scripts.stream(contentChunk('from the second'), DONE));
    await withGateway(
      (response) => setTimeout(() => response.writeHead(503).end('{}'), 200),
      async (gateway) => {
        expect(await text(gateway)).toBe(contentChunk('from the second') + DONE);
        await eventually(() => expect(gateway.ends[0]?.outcome).toBe('ok'));
      },
      { second: second.url, ...hold(50) },
    );
    await second.close();
  });

  it('begun after the hold time is kept alive until its content comes', async () => {
    let content: () => void = () => undefined;
    await withGateway(
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.flushHeaders();
        content = () => response.end(contentChunk('Hi') + DONE);
      },
      async (gateway) => {
        const answer = await gateway.chat({ stream: true });
        for (let second = 0; second < 21; second += 1) gateway.heartbeats.tick();
        content();
        expect(await answer.text()).toBe(`: heartbeat\n\n: heartbeat\n\n${contentChunk('Hi')}${DONE}`);
      },
      {
        change: (raw) =>
          void ((raw.plans.team as { policy: { routing: Record<string, unknown> } }).policy.routing.holdMs = 50),
      },
    );
  });

  it('that goes on for ever after its end marker is left, with a good answer', async () => {
    let open = true;
    await withGateway(
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(contentChunk('Hi') + DONE);
        const timer = setInterval(() => response.write(contentChunk('more')), 5);
        response.on('close', () => {
          clearInterval(timer);
          open = false;
        });
      },
      async (gateway) => {
        expect(await text(gateway)).toBe(contentChunk('Hi') + DONE);
        await eventually(() => expect(open).toBe(false));
      },
    );
  });
});

describe('the usage event', () => {
  const script = scripts.stream(CHUNK_ROLE, contentChunk('Hi'), CHUNK_STOP, CHUNK_USAGE, DONE);

  it('stands right before the end marker for callers that asked for it', async () => {
    await withGateway(script, async (gateway) => {
      const body = await text(gateway, { headers: { 'x-sluice-usage-event': 'true' } });
      const events = body.trimEnd().split('\n\n');
      expect(events.at(-1)).toBe('data: [DONE]');
      const usage = events.at(-2)?.split('\n') ?? [];
      expect(usage[0]).toBe('event: usage');
      expect(JSON.parse(usage[1]?.slice(6) ?? '')).toMatchObject({
        tokens: { input: 5, output: 7 },
        cost_nanousd: 19_000,
        model: 'sim-small',
        provider: 'primary',
      });
    });
  });

  it('comes to nobody else, and not after a failure', async () => {
    await withGateway(script, async (gateway) => expect(await text(gateway)).not.toContain('event: usage'));
    await withGateway(scripts.stream(contentChunk('Hi')), async (gateway) => {
      expect(await text(gateway, { headers: { 'x-sluice-usage-event': 'true' } })).not.toContain('event: usage');
    });
  });
});

describe('a connection that goes on', () => {
  it('is not cut by the fault of a call that it has answered', async () => {
    let count = 0;
    let settled = 0;
    await withGateway(
      (response) => {
        count += 1;
        if (count === 1) scripts.whole(response);
        else setTimeout(() => scripts.whole(response), 100);
      },
      async (gateway) => {
        expect(await (await gateway.chat()).text()).toContain('Hello there');
        expect(await (await gateway.chat()).text()).toContain('Hello there');
        await eventually(() => expect(gateway.faults).toHaveLength(1));
      },
      {
        wrapLimits: (limits) => ({
          ...limits,
          settle(lease, settlement) {
            settled += 1;
            if (settled === 1) throw new Error('the store is gone');
            return limits.settle(lease, settlement);
          },
        }),
      },
    );
  });
});

describe('two requests on one connection without waiting', () => {
  it('both come back when the client goes away before the first is answered', async () => {
    let count = 0;
    await withGateway(
      (response) => {
        count += 1;
        if (count > 1) scripts.whole(response);
      },
      async (gateway) => {
        const body = chatBody();
        const request = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${SAMPLE_KEYS.acme}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
        const socket = connect(gateway.port, '127.0.0.1');
        socket.on('error', () => undefined);
        socket.write(request);
        await eventually(() => expect(count).toBe(1));
        socket.write(request);
        await eventually(() => expect(gateway.settled).toHaveLength(1));
        socket.destroy();
        await eventually(() => expect(gateway.ends).toHaveLength(2));
        expect(gateway.ends.map((end) => end.outcome).sort()).toEqual(['cancelled', 'ok']);
        expect(gateway.view().inFlight).toBe(0);
        expect(gateway.server.inFlight).toBe(0);
      },
    );
  });
});
