import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually } from '@sluice/testing';
import { createCancelToken } from '../../cancel-token.ts';
import { collectBody } from '../read-body/collect-body.ts';
import {
  chatBody,
  startGateway,
  type GatewayOptions,
  type GatewayUnderTest,
} from '../../testing/gateway-under-test.ts';
import { answer, startRawUpstream, type Wire } from '../../testing/raw-upstream.ts';
import { SAMPLE_KEYS } from '../../testing/sample-snapshot.ts';
import { contentChunk, scripts, startScriptedUpstream, WHOLE, type Script } from '../../testing/scripted-upstream.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const MB = 1024 * 1024;
const userSays = (text: string) => ({ messages: [{ role: 'user', content: text }] });

/** A stream that has begun and says no more. */
const begun: Wire = answer('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream', contentChunk('Hi'));
const silent: Script = () => undefined;

async function withUpstream(
  script: Script,
  act: (gateway: GatewayUnderTest, upstream: Awaited<ReturnType<typeof startScriptedUpstream>>) => Promise<void>,
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

describe('the body of a request', () => {
  it('takes no memory while its stream runs', async () => {
    const used = (): number => {
      // The engine keeps the text of the last match, which was the upstream's.
      /./.exec('.');
      collect();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const upstream = await startRawUpstream(begun);
    const gateway = await startGateway({ primary: upstream.url });
    const sockets: Socket[] = [];
    try {
      const open = async (text: string): Promise<void> => {
        const body = chatBody({ stream: true, ...userSays(text) });
        const socket = connect(gateway.port, '127.0.0.1');
        sockets.push(socket);
        socket.write(
          `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${SAMPLE_KEYS.acme}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        );
        let answered = '';
        socket.on('data', (bytes) => (answered += bytes.toString()));
        await eventually(() => expect(answered).toContain('"Hi"'));
      };
      await open('short');
      const before = used();
      for (let i = 0; i < 4; i += 1) await open('long '.repeat((4 * MB) / 5));
      await eventually(() => expect((used() - before) / MB).toBeLessThan(4));
    } finally {
      for (const socket of sockets) socket.destroy();
      await gateway.close();
      await upstream.close();
    }
  });

  it('is not held by the request that it came with', async () => {
    const request = new PassThrough();
    request.end('x'.repeat(100_000));
    const read = async () =>
      new WeakRef(
        (await collectBody(
          request as unknown as IncomingMessage,
          MB,
          1_000,
          createCancelToken(),
          () => true,
        )) as object,
      );
    const collected = await read();
    await eventually(() => {
      collect();
      expect(collected.deref()).toBeUndefined();
    });
    expect(request.listenerCount('data')).toBe(1);
  });

  it('still counts when its stream breaks off and nobody counted its tokens', async () => {
    await withUpstream(scripts.whole, async (gateway, upstream) => {
      const long = userSays('x'.repeat(40_000));
      // Teaches that the caller's text is next to free: the answer says 5 tokens.
      for (let i = 0; i < 12; i += 1) expect(await (await gateway.chat(long)).text()).toBe(WHOLE);
      upstream.script = scripts.streamThenCut(contentChunk('Hi'));
      await (await gateway.chat({ stream: true, ...long })).text();
      await eventually(() =>
        expect(gateway.settled.at(-1)).toMatchObject({
          abort_case: 'partial',
          usage_source: 'estimate',
          usage: { input: 10_000 },
        }),
      );
    });
  });

  it('counts in the memory of its tenant until the answer has come', async () => {
    const bodyMemory = { tenantBytes: 600_000 };
    await withUpstream(
      silent,
      async (gateway, upstream) => {
        const large = userSays('x'.repeat(400_000));
        const caller = new AbortController();
        const first = gateway.chat(large, { signal: caller.signal }).catch(() => undefined);
        await eventually(() => expect(upstream.requests).toHaveLength(1));
        upstream.script = scripts.whole;
        const second = await gateway.chat(large);
        expect(second.status).toBe(503);
        expect(await second.text()).toContain('Too many large request bodies of this customer');
        expect((await gateway.chat()).status).toBe(200);
        expect((await gateway.chat(large, { headers: { authorization: `Bearer ${SAMPLE_KEYS.globex}` } })).status).toBe(
          200,
        );
        caller.abort();
        await first;
        await eventually(async () => expect((await gateway.chat(large)).status).toBe(200));
      },
      { bodyMemory },
    );
  });

  it('makes room for the next one as soon as its stream has begun', async () => {
    const bodyMemory = { tenantBytes: 600_000 };
    await withUpstream(
      scripts.streamThenHang(contentChunk('Hi')),
      async (gateway) => {
        const large = userSays('x'.repeat(400_000));
        const callers = [new AbortController(), new AbortController(), new AbortController()];
        for (const { signal } of callers)
          expect((await gateway.chat({ stream: true, ...large }, { signal })).status).toBe(200);
        for (const caller of callers) caller.abort();
        await eventually(() => expect(gateway.ends).toHaveLength(3));
      },
      { bodyMemory },
    );
  });
});
