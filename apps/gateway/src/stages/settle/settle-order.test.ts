import { connect } from 'node:net';
import { eventually } from '@sluice/testing';
import {
  chatBody,
  startGateway,
  type GatewayOptions,
  type GatewayUnderTest,
} from '../../testing/gateway-under-test.ts';
import { SAMPLE_KEYS } from '../../testing/sample-snapshot.ts';
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

const STREAM = [CHUNK_ROLE, contentChunk('Hello'), contentChunk(' there'), CHUNK_STOP, CHUNK_USAGE, DONE] as const;

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

function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

describe('the order of the settle contract', () => {
  it('no last byte of a stream leaves before its record is on disk, and the lease is settled after it', async () => {
    const { opened, open } = gate();
    await withGateway(
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(CHUNK_ROLE + contentChunk('Hello'));
        setTimeout(() => response.end(CHUNK_STOP + DONE), 30);
      },
      async (gateway) => {
        let text = '';
        const answer = await gateway.chat({ stream: true });
        const reading = (async () => {
          for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>)
            text += Buffer.from(chunk).toString();
          gateway.events.push('client has the end');
        })();
        await eventually(() => expect(text).toContain('Hello'));
        await eventually(() => expect(gateway.slotsInUse()).toBe(0));
        expect(text).not.toContain('[DONE]');
        expect(gateway.view().inFlight).toBe(1);
        open();
        await reading;
        await eventually(() => expect(gateway.ends).toHaveLength(1));
        expect(text).toContain('[DONE]');
        expect(gateway.events.filter((event) => event !== 'client has the end')).toEqual([
          'started',
          'settled',
          'lease settled',
          'reported',
        ]);
        expect(gateway.events.indexOf('client has the end')).toBeGreaterThan(gateway.events.indexOf('settled'));
      },
      { beforeAppend: (what) => (what === 'settled' ? opened : undefined) },
    );
  });

  it('no byte of a whole answer leaves before its record is on disk', async () => {
    const { opened, open } = gate();
    let recording = false;
    await withGateway(
      scripts.whole,
      async (gateway) => {
        let answered = false;
        const asking = gateway.chat().then((answer) => {
          answered = true;
          return answer.text();
        });
        await eventually(() => expect(recording).toBe(true));
        for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
        expect(answered).toBe(false);
        open();
        expect(await asking).toContain('Hello there');
      },
      {
        beforeAppend(what) {
          if (what !== 'settled') return undefined;
          recording = true;
          return opened;
        },
      },
    );
  });

  it('a stream whose record cannot be written ends with an error in the stream, and with no end marker', async () => {
    await withGateway(
      scripts.stream(...STREAM),
      async (gateway) => {
        const text = await (await gateway.chat({ stream: true })).text();
        expect(text).toContain('"overloaded"');
        expect(text).not.toContain('[DONE]');
        await eventually(() => expect(gateway.ends[0]).toMatchObject({ outcome: 'shed', status: 200 }));
      },
      {
        beforeAppend: (what) => {
          if (what === 'settled') throw new Error('the disk is full');
        },
      },
    );
  });

  it('a whole answer whose record cannot be written is not sent', async () => {
    await withGateway(
      scripts.whole,
      async (gateway) => {
        const answer = await gateway.chat();
        expect(answer.status).toBe(503);
        expect(answer.headers.get('x-sluice-refusal')).toBe('metering_full');
        await eventually(() => expect(gateway.ends[0]).toMatchObject({ outcome: 'shed', status: 503 }));
      },
      {
        beforeAppend: (what) => {
          if (what === 'settled') throw new Error('the disk is full');
        },
      },
    );
  });

  it('what could not be recorded at its end is recorded once when the disk takes it: a withheld answer unbilled, a stream for what was sent, both counted as recorded', async () => {
    let full = true;
    const beforeAppend = (what: string): void => {
      if (what === 'settled' && full) throw new Error('the disk is full');
    };
    for (const { script, stream } of [
      { script: scripts.whole, stream: false },
      { script: scripts.stream(...STREAM), stream: true },
    ]) {
      full = true;
      await withGateway(
        script,
        async (gateway) => {
          await (await gateway.chat({ stream })).text();
          await eventually(() => expect(gateway.ends).toHaveLength(1));
          const quota = (): number | undefined => gateway.view().quotas.find(({ window }) => window === 'month')?.used;
          await gateway.late.retry();
          expect([gateway.settled.length, gateway.late.waiting, quota()]).toEqual([0, 1, 0]);
          full = false;
          await gateway.late.retry();
          await gateway.late.retry();
          expect(gateway.settled).toHaveLength(1);
          const [event] = gateway.settled;
          expect(event).toMatchObject({
            outcome: 'interrupted',
            error_code: 'metering_full',
            request_id: gateway.started[0]?.request_id,
          });
          // The provider's count stays in the attempt, whatever is billed.
          expect(event?.attempts[0]?.usage).toMatchObject({ input: 5, output: 7 });
          if (stream) expect(event?.billed_nanousd).toBeGreaterThan(0);
          else
            expect(event).toMatchObject({ abort_case: 'no_bytes', billed_nanousd: 0, usage: { input: 0, output: 0 } });
          expect(quota()).toBe(stream ? 12 : 0);
          expect(gateway.view().inFlight).toBe(0);
        },
        {
          beforeAppend,
          change: (raw) =>
            void Object.assign(raw.tenants['acme'] as object, {
              limits: {
                quotas: [
                  {
                    id: 'month',
                    meter: 'total_tokens',
                    span: { kind: 'calendar', period: 'month' },
                    limit: 1e9,
                    mode: 'hard',
                  },
                ],
              },
            }),
        },
      );
    }
  });

  it('a client that leaves while the record is written changes nothing that is recorded', async () => {
    const { opened, open } = gate();
    await withGateway(
      scripts.whole,
      async (gateway) => {
        const abort = new AbortController();
        const asking = gateway.chat({}, { signal: abort.signal }).catch(() => undefined);
        await eventually(() => expect(gateway.started).toHaveLength(1));
        await eventually(() => expect(gateway.slotsInUse()).toBe(0));
        abort.abort();
        await asking;
        open();
        await eventually(() => expect(gateway.ends).toHaveLength(1));
        expect(gateway.settled[0]).toMatchObject({
          outcome: 'ok',
          abort_case: 'complete',
          usage: { input: 5, output: 7 },
        });
        expect(gateway.view().inFlight).toBe(0);
      },
      { beforeAppend: (what) => (what === 'settled' ? opened : undefined) },
    );
  });
});

describe('a client that never reads', () => {
  const big = contentChunk('x'.repeat(60_000));

  /** A stream that goes on as long as it is read. */
  function endless(sent = { bytes: 0 }): Script {
    return (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.on('error', () => undefined);
      const more = (): void => {
        while (!response.destroyed && response.write(big)) sent.bytes += big.length;
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    };
  }

  function ask(port: number, more: object = { stream: true }, key: string = SAMPLE_KEYS.acme) {
    const body = chatBody(more);
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.pause();
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    return socket;
  }

  it('of an endless stream is cut as a slow reader: memory stays flat, slot and place come back, one record is written', async () => {
    const sent = { bytes: 0 };
    await withGateway(
      endless(sent),
      async (gateway) => {
        const before = process.memoryUsage().rss;
        const socket = ask(gateway.port);
        await eventually(() => expect(gateway.ends).toHaveLength(1));
        expect(gateway.ends[0]).toMatchObject({ outcome: 'cancelled', refusal: { code: 'slow_reader' } });
        expect(gateway.settled).toHaveLength(1);
        expect(gateway.settled[0]).toMatchObject({ abort_case: 'partial' });
        expect(gateway.slotsInUse()).toBe(0);
        expect(gateway.view().inFlight).toBe(0);
        expect(sent.bytes).toBeLessThan(64 * 1024 * 1024);
        expect(process.memoryUsage().rss - before).toBeLessThan(96 * 1024 * 1024);
        socket.destroy();
      },
      { slowReaderMs: 300 },
    );
  });

  it('of a large whole answer holds no provider slot, and is cut', async () => {
    const answer = JSON.stringify({ choices: [{ message: { content: 'x'.repeat(24 * 1024 * 1024) } }] });
    await withGateway(
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(answer),
      async (gateway) => {
        const socket = ask(gateway.port, {});
        await eventually(() => expect(gateway.settled).toHaveLength(1));
        expect(gateway.slotsInUse()).toBe(0);
        expect(gateway.ends).toHaveLength(0);
        await eventually(() => expect(gateway.ends).toHaveLength(1));
        expect(gateway.ends[0]?.outcome).toBe('ok');
        expect(gateway.view().inFlight).toBe(0);
        socket.destroy();
      },
      { unread: { stallMs: 4_000 } },
    );
  });

  it("of many large whole answers is cut beyond its tenant's memory for them, billed, and costs no other tenant an answer", async () => {
    const MB = 1024 * 1024;
    const answer = JSON.stringify({
      choices: [{ message: { content: 'x'.repeat(24 * MB) } }],
      usage: { prompt_tokens: 5, completion_tokens: 7 },
    });
    await withGateway(
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(answer),
      async (gateway) => {
        const sockets = [ask(gateway.port, {}, SAMPLE_KEYS.globex)];
        for (let i = 1; i <= 2; i += 1) {
          sockets.push(ask(gateway.port, {}));
          await eventually(() => expect(gateway.settled).toHaveLength(1 + i));
        }
        await eventually(
          () =>
            expect(gateway.calls.map(({ key, cutFor }) => [key?.workspace.tenant.id, cutFor])).toEqual([
              ['acme', 'tenant_unread'],
            ]),
          { timeoutMs: 10_000 },
        );
        expect(gateway.ends.map(({ outcome, figures }) => [outcome, (figures?.billedNanoUsd ?? 0) > 0])).toEqual([
          ['ok', true],
        ]);
        expect(gateway.view().inFlight).toBe(1);
        for (const socket of sockets) socket.destroy();
      },
      { unread: { tenantBytes: 40 * MB } },
    );
  });

  it('cannot hold its place with an error in the stream that it does not take either', async () => {
    await withGateway(
      endless(),
      async (gateway) => {
        const socket = ask(gateway.port);
        await eventually(() => expect(gateway.ends).toHaveLength(1));
        expect(gateway.ends[0]).toMatchObject({ outcome: 'timeout', status: 200 });
        expect(gateway.slotsInUse()).toBe(0);
        expect(gateway.view().inFlight).toBe(0);
        socket.destroy();
      },
      {
        unread: { stallMs: 100 },
        change: (raw) =>
          void ((raw.plans.team as { policy: Record<string, unknown> }).policy.deadlines = {
            firstByteMs: 500,
            idleMs: 9_000,
            totalMs: 500,
          }),
      },
    );
  });
});
