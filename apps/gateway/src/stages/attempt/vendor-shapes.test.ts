import Anthropic from '@anthropic-ai/sdk';
import { eventually } from '@sluice/testing';
import OpenAI from 'openai';
import { startGateway } from '../../testing/gateway-under-test.ts';
import type { RawSnapshot } from '../../testing/sample-snapshot.ts';
import { SAMPLE_KEYS } from '../../testing/sample-snapshot.ts';
import {
  CHUNK_STOP,
  CHUNK_USAGE,
  contentChunk,
  DONE,
  type Script,
  scripts,
  startScriptedUpstream,
} from '../../testing/scripted-upstream.ts';

const KEY = SAMPLE_KEYS.acme;
const TEXT = contentChunk('Hello there');
const GOOD = scripts.stream(TEXT, CHUNK_STOP, CHUNK_USAGE, DONE);
const chat = { model: 'sim-small', messages: [{ role: 'user' as const, content: 'hi' }] };

/** A gateway whose primary answers by this script and whose second is well. */
async function run<Result>(
  script: Script,
  use: (
    gateway: Awaited<ReturnType<typeof startGateway>>,
    second: { readonly requests: readonly { body: string }[] },
  ) => Promise<Result>,
  change: (raw: RawSnapshot) => void = () => undefined,
  secondScript: Script = GOOD,
): Promise<Result> {
  const primary = await startScriptedUpstream(script);
  const second = await startScriptedUpstream(secondScript);
  const gateway = await startGateway({ primary: primary.url, second: second.url, change });
  try {
    return await use(gateway, second);
  } finally {
    await gateway.close();
    await primary.close();
    await second.close();
  }
}

const openai = (url: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey: KEY, maxRetries: 0 });
const anthropic = (url: string) => new Anthropic({ baseURL: url, apiKey: KEY, maxRetries: 0 });
const bothAnthropic = (raw: RawSnapshot): void => {
  for (const provider of Object.values(raw.providers)) Object.assign(provider as object, { dialect: 'anthropic' });
};

async function streamed(url: string): Promise<string> {
  let text = '';
  for await (const { choices } of await openai(url).chat.completions.create({ ...chat, stream: true }))
    text += choices[0]?.delta.content ?? '';
  return text;
}

describe("a provider's failure in any of its shapes", () => {
  it.each([
    ['an error of object "error"', 'data: {"object":"error","message":"x","code":500}\n\n' + DONE],
    ['an error that is a text', 'data: {"error":"boom"}\n\n' + DONE],
    [
      'a finish reason that is an error',
      'data: {"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}\n\n' + DONE,
    ],
    ['nothing but a mark', DONE],
  ])('before content goes to the next provider: %s', async (_what, failure) => {
    await run(scripts.stream(failure), async (gateway, second) => {
      expect(await streamed(gateway.url)).toBe('Hello there');
      expect(second.requests).toHaveLength(1);
    });
  });

  it('after content is an error in the stream for the SDK, and no success in the ledger', async () => {
    await run(scripts.stream(TEXT, 'data: {"error":"boom"}\n\n', DONE), async (gateway, second) => {
      await expect(streamed(gateway.url)).rejects.toThrow();
      expect(second.requests).toHaveLength(0);
      await eventually(() => expect(gateway.ends).toHaveLength(1));
      expect(gateway.ends[0]?.outcome).toBe('upstream_error');
    });
  });

  it('a clean end after finish and usage is complete for the SDK and the ledger', async () => {
    await run(scripts.stream(TEXT, CHUNK_STOP, CHUNK_USAGE), async (gateway) => {
      expect(await streamed(gateway.url)).toBe('Hello there');
      await eventually(() => expect(gateway.ends).toHaveLength(1));
      expect(gateway.ends[0]?.outcome).toBe('ok');
    });
  });
});

describe('an account without money', () => {
  it.each([
    [429, '{"error":{"code":"billing_not_active","message":"x"}}'],
    [429, '{"error":{"type":"exceeded_current_quota_error","message":"x"}}'],
    [400, '{"error":{"code":"billing_hard_limit_reached","message":"x"}}'],
    [400, '{"error":{"code":"Arrearage","message":"x"}}'],
    [400, '{"error":{"type":"budget_exceeded","message":"x","code":400}}'],
    [403, '{"error":{"code":"insufficient_user_quota","message":"x"}}'],
    [200, '{"error":{"code":402,"message":"x"}}'],
  ])(
    'of status %i and body %s: the next provider answers after one call, and the account rests',
    async (status, body) => {
      await run(
        scripts.status(status, body),
        async (gateway) => {
          const { response } = await openai(gateway.url).chat.completions.create(chat).withResponse();
          expect(response.headers.get('x-sluice-attempts')).toBe('2');
          expect(gateway.accounts).toHaveLength(1);
        },
        undefined,
        scripts.whole,
      );
    },
  );

  it('is never found in the words that a caller can quote', async () => {
    const body =
      '{"error":{"message":"bad value insufficient_quota billing_not_active","type":"invalid_request_error","code":null}}';
    await run(scripts.status(400, body), async (gateway, second) => {
      await expect(openai(gateway.url).chat.completions.create(chat)).rejects.toMatchObject({ status: 400 });
      expect(second.requests).toHaveLength(0);
      expect(gateway.accounts).toHaveLength(0);
    });
  });
});

it('a model that the provider does not know is answered by the next one', async () => {
  const body =
    '{"error":{"message":"The model does not exist","type":"invalid_request_error","param":null,"code":"model_not_found"}}';
  await run(
    scripts.status(404, body),
    async (gateway) => {
      expect((await openai(gateway.url).chat.completions.create(chat)).choices[0]?.message.content).toBe('Hello there');
    },
    undefined,
    scripts.whole,
  );
});

describe('across dialects, as the SDKs read it', () => {
  const tool = (id: string, args: string): string =>
    `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta: { tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: args } }] } }] })}\n\n`;

  it('two calls without an index are two tools of a message, with their input', async () => {
    await run(
      scripts.stream(tool('functions.f:0', '{"a":1}'), tool('functions.f:1', '{"b":2}'), CHUNK_STOP, DONE),
      async (gateway) => {
        const message = await anthropic(gateway.url)
          .messages.stream({ ...chat, max_tokens: 99 })
          .finalMessage();
        expect(message.stop_reason).toBe('tool_use');
        expect(message.content).toMatchObject([
          { type: 'tool_use', name: 'f', input: { a: 1 } },
          { type: 'tool_use', name: 'f', input: { b: 2 } },
        ]);
      },
    );
  });

  it('a tool without arguments has "{}", which the SDK can run', async () => {
    const event = (type: string, rest: object): string =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
    const script = scripts.stream(
      event('message_start', { message: { id: 'msg_1', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } } }),
      event('content_block_start', {
        index: 0,
        content_block: { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
      }),
      event('content_block_stop', { index: 0 }),
      event('message_delta', { delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 3 } }),
      event('message_stop', {}),
    );
    await run(
      script,
      async (gateway) => {
        const completion = await openai(gateway.url)
          .chat.completions.stream({ ...chat, stream: true })
          .finalChatCompletion();
        expect(completion.choices[0]?.message.tool_calls?.[0]).toMatchObject({
          function: { name: 'f', arguments: '{}' },
        });
        expect(completion.choices[0]?.finish_reason).toBe('tool_calls');
      },
      bothAnthropic,
    );
  });

  it('a workspace that drops what cannot be carried reads the names in a header; another is refused', async () => {
    const body = { ...chat, seed: 7, top_logprobs: 2 };
    const whole = JSON.stringify({
      id: 'msg_1',
      type: 'message',
      model: 'm',
      content: [{ type: 'text', text: 'x' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    });
    const script = scripts.status(200, whole);
    await run(
      script,
      async (gateway) => {
        const { response } = await openai(gateway.url).chat.completions.create(body).withResponse();
        expect(response.headers.get('x-sluice-dropped')).toBe('seed, top_logprobs');
      },
      (raw) => {
        bothAnthropic(raw);
        for (const plan of Object.values(raw.plans))
          Object.assign((plan as { policy: object }).policy, { acrossDialects: 'drop' });
      },
    );
    await run(
      script,
      async (gateway) => {
        await expect(openai(gateway.url).chat.completions.create(body)).rejects.toMatchObject({
          status: 400,
          param: 'seed',
        });
      },
      bothAnthropic,
    );
  });

  it('also for a body that a worker writes', async () => {
    const whole = JSON.stringify({
      id: 'msg_1',
      type: 'message',
      model: 'm',
      content: [{ type: 'text', text: 'x' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    });
    await run(
      scripts.status(200, whole),
      async (gateway) => {
        const long = { ...chat, seed: 7, messages: [{ role: 'user' as const, content: 'word '.repeat(20_000) }] };
        const { response } = await openai(gateway.url).chat.completions.create(long).withResponse();
        expect(response.headers.get('x-sluice-dropped')).toBe('seed');
      },
      (raw) => {
        bothAnthropic(raw);
        for (const plan of Object.values(raw.plans))
          Object.assign((plan as { policy: object }).policy, { acrossDialects: 'drop' });
      },
    );
  });
});
