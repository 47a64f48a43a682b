import { eventually } from '@sluice/testing';
import { startGateway, type GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { RawSnapshot } from '../../testing/sample-snapshot.ts';
import {
  CHUNK_ROLE,
  CHUNK_STOP,
  CHUNK_USAGE,
  contentChunk,
  DONE,
  startScriptedUpstream,
  type ScriptedUpstream,
} from '../../testing/scripted-upstream.ts';
import { SAMPLE_KEYS } from '../../testing/sample-snapshot.ts';

const TEXT = 'x'.repeat(40);

/** A workspace with a hard quota of tokens, which expects 100 tokens of every call. */
const hardQuota = (limit: number, more: object) => (raw: RawSnapshot) => {
  const { policy } = raw.plans.team as { policy: Record<string, unknown> };
  const quotas = [
    { id: 'month', meter: 'total_tokens', span: { kind: 'calendar', period: 'month' }, limit, mode: 'hard' },
  ];
  Object.assign(policy, { limits: { ...(policy.limits as object), quotas }, defaultOutputTokens: 100, ...more });
};

/** Sends each part in a tick of its own until the connection is closed. */
async function upstreamOf(parts: readonly string[]): Promise<ScriptedUpstream> {
  return startScriptedUpstream((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let next = 0;
    const send = (): void => {
      if (response.destroyed) return;
      const part = parts[next++];
      if (part === undefined) response.end();
      else response.write(part, () => setImmediate(send));
    };
    send();
  });
}

async function run(
  upstream: ScriptedUpstream,
  change: (raw: RawSnapshot) => void,
  act: (gateway: GatewayUnderTest) => Promise<void>,
): Promise<void> {
  const gateway = await startGateway({ primary: upstream.url, change });
  try {
    await act(gateway);
  } finally {
    await gateway.close();
    await upstream.close();
  }
}

const longOpenai = [
  CHUNK_ROLE,
  ...Array.from({ length: 300 }, () => contentChunk(TEXT)),
  CHUNK_STOP,
  CHUNK_USAGE,
  DONE,
];
const total = (gateway: GatewayUnderTest) => gateway.view().quotas[0]?.used;

describe('a hard quota that runs out in the middle of a stream', () => {
  it('ends the answer correctly where the workspace asked for it, stops the provider, and bills what was sent', async () => {
    const upstream = await upstreamOf(longOpenai);
    await run(upstream, hardQuota(1_000, { stopMidStream: true }), async (gateway) => {
      const text = await (await gateway.chat({ stream: true, stream_options: { include_usage: true } })).text();
      const events = text.trimEnd().split('\n\n');
      expect(events.at(-1)).toBe('data: [DONE]');
      expect(JSON.parse((events.at(-3) as string).slice(6))).toMatchObject({
        choices: [{ delta: {}, finish_reason: 'length' }],
      });
      await eventually(() => expect(gateway.settled).toHaveLength(1));
      const sent = events.filter((event) => event.includes(TEXT)).length * 10;
      const [event] = gateway.settled;
      expect(event).toMatchObject({
        outcome: 'ok',
        finish_reason: 'quota',
        abort_case: 'partial',
        usage_source: 'estimate',
      });
      expect(event?.usage.output).toBe(sent);
      expect(event?.billed_nanousd).toBe((event?.usage.input ?? 0) * 1000 + sent * 2000);
      expect(JSON.parse((events.at(-2) as string).slice(6)).usage).toMatchObject({
        prompt_tokens: event?.usage.input,
        completion_tokens: sent,
        total_tokens: (event?.usage.input ?? 0) + sent,
      });
      expect(total(gateway)).toBeLessThanOrEqual(1_000);
      expect(total(gateway)).toBeGreaterThan(850);
      await eventually(() => expect(upstream.aborted).toBe(1));
      expect(gateway.breakers.report()[0]?.failure_percent ?? 0).toBe(0);
      expect(gateway.slotsInUse()).toBe(0);
    });
  });

  it('tells a client of the other dialect the counts that are billed', async () => {
    const upstream = await upstreamOf(longOpenai);
    await run(upstream, hardQuota(1_000, { stopMidStream: true }), async (gateway) => {
      const answer = await fetch(`${gateway.url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': SAMPLE_KEYS.acme, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'sim-small',
          max_tokens: 4_000,
          stream: true,
          messages: [{ role: 'user', content: 'Hello' }],
        }),
      });
      const end = (await answer.text()).split('\n').find((line) => line.includes('"type":"message_delta"')) ?? '';
      await eventually(() => expect(gateway.settled).toHaveLength(1));
      const [event] = gateway.settled;
      expect(event).toMatchObject({ finish_reason: 'quota', abort_case: 'partial' });
      expect(event?.usage.input).toBeGreaterThan(0);
      expect(JSON.parse(end.slice(5))).toMatchObject({
        delta: { stop_reason: 'max_tokens' },
        usage: { input_tokens: event?.usage.input, output_tokens: event?.usage.output },
      });
    });
  });

  it('lets the answer end by itself where the workspace did not ask, and counts all of it', async () => {
    const upstream = await upstreamOf(longOpenai);
    await run(upstream, hardQuota(1_000, {}), async (gateway) => {
      const text = await (await gateway.chat({ stream: true })).text();
      expect(text.match(new RegExp(TEXT, 'g'))).toHaveLength(300);
      await eventually(() =>
        expect(gateway.settled[0]).toMatchObject({ outcome: 'ok', finish_reason: 'stop', abort_case: 'complete' }),
      );
      expect(total(gateway)).toBe(12);
    });
  });

  it('refuses the next call, naming quota and usage', async () => {
    const upstream = await upstreamOf([
      CHUNK_ROLE,
      ...Array.from({ length: 300 }, () => contentChunk(TEXT)),
      CHUNK_STOP,
      DONE,
    ]);
    await run(upstream, hardQuota(1_000, {}), async (gateway) => {
      await (await gateway.chat({ stream: true })).text();
      await eventually(() => expect(total(gateway)).toBeGreaterThan(3_000));
      const refused = await gateway.chat();
      expect(refused.status).toBe(402);
      expect(refused.headers.get('x-sluice-quota-remaining-tokens')).toBe('0');
      expect(JSON.stringify(await refused.json())).toContain("of its quota 'month'");
    });
  });

  it('reserves more while a stream runs, so that parallel calls do not all fit into what it will use', async () => {
    const upstream = await upstreamOf([CHUNK_ROLE, ...Array.from({ length: 200 }, () => contentChunk(TEXT))]);
    upstream.script = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(CHUNK_ROLE + contentChunk('x'.repeat(8_000)));
    };
    await run(upstream, hardQuota(2_500, { stopMidStream: true }), async (gateway) => {
      const first = await gateway.chat({ stream: true });
      await first.body?.getReader().read();
      await eventually(() => expect(total(gateway)).toBeGreaterThan(2_000));
    });
  });
});

describe('a hard quota that runs out in the middle of an Anthropic stream', () => {
  const event = (data: { type: string } & Record<string, unknown>) =>
    `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
  const long = [
    event({
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        stop_reason: null,
        usage: { input_tokens: 9, output_tokens: 1 },
      },
    }),
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...Array.from({ length: 300 }, () =>
      event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: TEXT } }),
    ),
  ];

  it('closes the block and the message, and bills the counted input and what was sent', async () => {
    const upstream = await upstreamOf(long);
    const change = (raw: RawSnapshot): void => {
      hardQuota(1_000, { stopMidStream: true })(raw);
      Object.assign(raw.providers.primary as object, { dialect: 'anthropic' });
    };
    await run(upstream, change, async (gateway) => {
      const answer = await fetch(`${gateway.url}/v1/messages`, {
        method: 'POST',
        headers: {
          'x-api-key': SAMPLE_KEYS.acme,
          'anthropic-version': '2023-06-01',
          'content-type': 'application/json',
        },
        body: JSON.stringify({
          model: 'sim-small',
          max_tokens: 5_000,
          stream: true,
          messages: [{ role: 'user', content: 'Hello' }],
        }),
      });
      const events = (await answer.text()).trimEnd().split('\n\n');
      expect(events.slice(-3).map((text) => text.split('\n')[0])).toEqual([
        'event: content_block_stop',
        'event: message_delta',
        'event: message_stop',
      ]);
      const sent = events.filter((text) => text.includes(TEXT)).length * 10;
      await eventually(() =>
        expect(gateway.settled[0]).toMatchObject({ finish_reason: 'quota', usage: { input: 9, output: sent } }),
      );
      expect(total(gateway)).toBeLessThanOrEqual(1_000);
    });
  });
});
