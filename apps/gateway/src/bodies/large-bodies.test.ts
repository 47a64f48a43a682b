import { createHash } from 'node:crypto';
import { jest } from '@jest/globals';
import { startGateway, type GatewayOptions, type GatewayUnderTest } from '../testing/gateway-under-test.ts';
import { SAMPLE_KEYS, type RawSnapshot } from '../testing/sample-snapshot.ts';
import { scripts, startScriptedUpstream, WHOLE, type Script } from '../testing/scripted-upstream.ts';
import { LARGE_BYTES } from './body-job.ts';
import { spawnWorker } from './spawn-worker.ts';

const MB = 1024 * 1024;
const SIZE = MB;

const withPadding = (padding: string): string =>
  `{"model":"sim-small","messages":[{"role":"user","content":"Hi"}]${padding}}`;

/** What an attacker may send, each about a megabyte. */
const SHAPES: Readonly<Record<string, string>> = {
  escapes: `{"model":"sim-small","messages":[{"role":"user","content":"${'\\"'.repeat(SIZE / 2)}"}]}`,
  'escapes in an unknown field': withPadding(`,"pad":"${'\\"'.repeat(SIZE / 2)}"`),
  brackets: withPadding(`,"pad":${'['.repeat(SIZE / 2)}${']'.repeat(SIZE / 2)}`),
  numbers: withPadding(`,"pad":[${'1,'.repeat(240_000)}1]`),
  names: withPadding(`,${Array.from({ length: 90_000 }, (_, n) => `"n${n}":1`).join(',')}`),
  'a string': `{"model":"sim-small","messages":[{"role":"user","content":"${'a'.repeat(SIZE)}"}]}`,
  'white space': withPadding(' '.repeat(SIZE)),
  'no JSON': 'x'.repeat(SIZE),
};

/** Ten tenants beside acme, who is healthy. */
const ATTACKERS = Array.from({ length: 10 }, (_, n) => `sk-sluice-attacker0${n}-${String(n).repeat(32)}`);

function addAttackers(raw: RawSnapshot): void {
  for (const [n, key] of ATTACKERS.entries()) {
    const id = `attacker-${n}`;
    raw.tenants[id] = { id, name: id, plan: 'team', limits: { quotas: [] } };
    raw.workspaces[id] = { slug: id, tenant: id, uuid: `00000000-0000-4000-8000-0000000001${n}0` };
    const keyId = key.split('-')[2] as string;
    const digest = createHash('sha256').update(key).digest('hex');
    raw.keys[keyId] = { keyId, digest, workspace: id, name: keyId, createdAt: '2026-01-01T00:00:00.000Z' };
  }
}

async function withGateway(
  options: Partial<GatewayOptions>,
  act: (gateway: GatewayUnderTest, upstream: Awaited<ReturnType<typeof startScriptedUpstream>>) => Promise<void>,
  script: Script = scripts.whole,
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

function post(gateway: GatewayUnderTest, body: string, key: string = SAMPLE_KEYS.acme, path = '/v1/chat/completions') {
  return fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body,
  });
}

/** Longest text that the event loop of this process parsed or wrote meanwhile. */
function watchLoop(): { readonly longest: () => number; stop(): void } {
  const parse = jest.spyOn(JSON, 'parse');
  const stringify = jest.spyOn(JSON, 'stringify');
  return {
    longest: () =>
      Math.max(
        0,
        ...parse.mock.calls.map(([text]) => String(text).length),
        ...stringify.mock.results.map(({ value }) => String(value).length),
      ),
    stop() {
      parse.mockRestore();
      stringify.mockRestore();
    },
  };
}

describe('bodies that are made to stop the event loop', () => {
  it.each([2, 10])(
    'of %i tenants at once are nowhere parsed on it, and a neighbour is served meanwhile',
    async (tenants) => {
      await withGateway({ change: addAttackers, bodies: { spawn: spawnWorker } }, async (gateway) => {
        const loop = watchLoop();
        try {
          const attack = ATTACKERS.slice(0, tenants).flatMap((key) =>
            Object.entries(SHAPES).map(async ([shape, body]) => {
              const answer = await post(gateway, body, key);
              await answer.text();
              return `${shape} ${answer.status}`;
            }),
          );
          const small = Array.from({ length: 10 }, async () => (await gateway.chat()).status);
          expect(new Set(await Promise.all(small))).toEqual(new Set([200]));
          const ended = new Set(await Promise.all(attack));
          expect(ended).toEqual(
            new Set([
              'escapes 200',
              'escapes in an unknown field 200',
              'brackets 400',
              'numbers 200',
              'names 200',
              'a string 200',
              'white space 200',
              'no JSON 400',
            ]),
          );
          expect(loop.longest()).toBeLessThanOrEqual(LARGE_BYTES);
          expect(gateway.jobs.filter(({ job, end }) => job === 'read' && end === 'done')).toHaveLength(
            tenants * Object.keys(SHAPES).length,
          );
          expect(gateway.faults).toEqual([]);
        } finally {
          loop.stop();
        }
      });
    },
    120_000,
  );

  it('from the other side, as a whole answer, are not parsed on it either', async () => {
    const answer = WHOLE.replace('Hello there', '\\"'.repeat(SIZE));
    const send: Script = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
    await withGateway(
      { bodies: { spawn: spawnWorker } },
      async (gateway) => {
        const loop = watchLoop();
        try {
          const response = await gateway.chat();
          expect(response.status).toBe(200);
          expect(await response.text()).toBe(answer);
          expect(loop.longest()).toBeLessThanOrEqual(LARGE_BYTES);
          expect(gateway.settled[0]?.usage).toMatchObject({ input: 5, output: 7 });
        } finally {
          loop.stop();
        }
      },
      send,
    );
  }, 60_000);

  it('lose their own call alone when they cost a thread its life', async () => {
    let spawned = 0;
    const dying: typeof spawnWorker = (events) => {
      const worker = spawnWorker(events);
      if ((spawned += 1) > 2) return worker;
      return { ...worker, send: () => worker.kill() };
    };
    await withGateway({ bodies: { spawn: dying } }, async (gateway) => {
      const large = SHAPES['a string'] as string;
      const [first, small] = await Promise.all([post(gateway, large), gateway.chat()]);
      expect(first.status).toBe(413);
      expect(await first.text()).toContain('more memory');
      expect(small.status).toBe(200);
      await post(gateway, large);
      expect((await post(gateway, large)).status).toBe(200);
    });
  }, 60_000);
});

describe('a large body', () => {
  const large = { messages: [{ role: 'user', content: 'é"\\ '.repeat(30_000) }] };

  it('reaches the provider byte for byte but for what every body is changed in', async () => {
    await withGateway({}, async (gateway, upstream) => {
      const body = `{ "x-sluice-tenant":"me", "stream":true,"a" : [1, {"model":"x"}],"model":"sim-small" ,${JSON.stringify(large).slice(1)}`;
      upstream.script = scripts.stream('data: [DONE]\n\n');
      await (await post(gateway, body)).text();
      expect(upstream.requests[0]?.body).toBe(
        body
          .replace('"x-sluice-tenant":"me", ', '')
          .replace('"sim-small"', '"sim-small-v1"')
          .replace(/\}$/, ',"stream_options":{"include_usage":true}}'),
      );
      expect(gateway.jobs).toHaveLength(1);
    });
  });

  it('is carried to another dialect as a small one is', async () => {
    const change = (raw: RawSnapshot): void =>
      void Object.assign(raw.providers.primary as object, { dialect: 'anthropic' });
    await withGateway({ change }, async (gateway, upstream) => {
      for (const text of ['Hello "you"', 'Hello "you"'.repeat(20_000)]) {
        await (await gateway.chat({ messages: [{ role: 'user', content: text }], max_tokens: 5 })).text();
        expect(JSON.parse(upstream.requests.at(-1)?.body ?? '')).toEqual({
          model: 'sim-small-v1',
          max_tokens: 5,
          messages: [{ role: 'user', content: text }],
        });
      }
      expect(gateway.jobs.map(({ job }) => job)).toEqual(['read', 'translate']);
      const refused = await gateway.chat({ ...large, logit_bias: { 1: 2 } });
      expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('logit_bias')]);
    });
  });

  it.each([
    ['no messages', { pad: 'x'.repeat(100_000) }, 'messages'],
    ['a message without a role', { messages: [{ content: 'x'.repeat(100_000) }] }, 'role'],
    ['a user that is a book', { ...large, user: 'x'.repeat(100_000) }, 'user'],
    ['a wrong bound', { ...large, max_tokens: -1 }, 'max_tokens'],
  ])('with %s is refused as a small one is', async (_what, body, named) => {
    await withGateway({}, async (gateway, upstream) => {
      const { messages: _none, ...rest } = { messages: undefined, ...body };
      const response = await post(gateway, JSON.stringify({ model: 'sim-small', ...rest, ...body }));
      expect(response.status).toBe(400);
      expect(await response.text()).toContain(named);
      expect(upstream.requests).toHaveLength(0);
    });
  });
});

describe('who is at a limit', () => {
  const limited =
    (limits: object) =>
    (raw: RawSnapshot): void =>
      void Object.assign(raw.tenants.acme as object, { limits: { quotas: [], ...limits } });

  it.each([
    [
      'a quota',
      {
        quotas: [
          {
            id: 'q',
            meter: 'total_tokens',
            span: { kind: 'rolling', seconds: 3600, steps: 12 },
            limit: 400,
            mode: 'hard',
            alertAtPercent: [],
          },
        ],
      },
    ],
    ['a rate', { requests: { perMinute: 1, burst: 1 } }],
  ])('of %s is refused before its body is read, as a small call is after', async (_what, limits) => {
    await withGateway({ change: limited(limits) }, async (gateway, upstream) => {
      upstream.script = scripts.status(200, WHOLE.replace('"prompt_tokens":5', '"prompt_tokens":500'));
      await gateway.chat();
      const small = await gateway.chat();
      const refused = await post(gateway, SHAPES['escapes'] as string);
      expect(refused.status).toBe(small.status);
      const words = (text: string) => text.replace(/[\d.]+ (ms|s|minutes|hours)/, 'a while');
      expect(words(await refused.text())).toBe(words(await small.text()));
      const kept = (response: Response) =>
        [...response.headers].map(([name]) => name).filter((name) => name !== 'connection' && name !== 'keep-alive');
      expect(kept(refused)).toEqual(kept(small));
      expect(refused.headers.get('x-sluice-refusal')).toBe(small.headers.get('x-sluice-refusal'));
      expect(gateway.jobs).toEqual([]);
      expect(upstream.requests.length).toBeLessThanOrEqual(1);
    });
  });

  it('is refused unread also with a body of unknown length', async () => {
    await withGateway({ change: limited({ requests: { perMinute: 1, burst: 1 } }) }, async (gateway) => {
      await gateway.chat();
      const refused = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${SAMPLE_KEYS.acme}`, 'content-type': 'application/json' },
        body: new Blob([SHAPES['escapes'] as string]).stream(),
        duplex: 'half',
      } as RequestInit);
      expect(refused.status).toBe(429);
      expect(gateway.jobs).toEqual([]);
    });
  });

  it('of tokens sends at most its minute of bytes, however it pads', async () => {
    await withGateway({ change: limited({ tokens: { perMinute: 60_000 } }) }, async (gateway, upstream) => {
      for (const size of [9.6 * MB, 400_000, 100_000, 20_000]) {
        const padded = [
          withPadding(`,"pad":"${'x'.repeat(size)}"`),
          withPadding(' '.repeat(size)),
          withPadding(`,"pad":"data:image/png;base64,${'A'.repeat(size)}"`),
        ];
        for (let i = 0; i < 12; i += 1) await (await post(gateway, padded[i % 3] as string)).text();
      }
      const sent = upstream.requests.reduce((sum, { body }) => sum + body.length, 0);
      expect(sent).toBeGreaterThan(100_000);
      expect(sent).toBeLessThan(60_000 * 8 * 1.5);
    });
  });

  it('of tokens sends images for what they count, not for their bytes', async () => {
    await withGateway({ change: limited({ tokens: { perMinute: 60_000 } }) }, async (gateway) => {
      const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(2 * MB)}` } };
      for (let i = 0; i < 5; i += 1) {
        const answer = await gateway.chat({
          messages: [{ role: 'user', content: [{ type: 'text', text: 'What?' }, image] }],
        });
        expect(answer.status).toBe(200);
      }
    });
  });
});
