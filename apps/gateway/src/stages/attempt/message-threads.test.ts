import Anthropic from '@anthropic-ai/sdk';
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

const EVENTS = scripts.stream(contentChunk('Hello there'), CHUNK_STOP, CHUNK_USAGE, DONE);
const answer: Script = (response, request, body) =>
  (body.includes('"stream":true') ? EVENTS : scripts.whole)(response, request, body);
const dropping = (raw: RawSnapshot): void => {
  for (const plan of Object.values(raw.plans))
    Object.assign((plan as { policy: object }).policy, { acrossDialects: 'drop' });
};

type Ask = (thread: ReturnType<Anthropic['beta']['messages']['thread']>, text: string) => Promise<string>;
const textOf = ({ content }: Anthropic.Beta.BetaMessage): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('');
const WAYS: [string, Ask][] = [
  ['whole', async (thread, content) => textOf(await thread.send({ role: 'user', content }))],
  ['streamed', async (thread, content) => textOf(await thread.stream({ role: 'user', content }).finalMessage())],
];

/** Two turns of a thread with a workspace whose provider speaks OpenAI's dialect. */
async function twoTurns(
  ask: Ask,
  unsupportedRequestBehavior: 'error' | 'continue_unthreaded',
  change: (raw: RawSnapshot) => void = () => undefined,
) {
  const provider = await startScriptedUpstream(answer);
  const gateway = await startGateway({ primary: provider.url, second: provider.url, change });
  try {
    const client = new Anthropic({ baseURL: gateway.url, apiKey: SAMPLE_KEYS.acme, maxRetries: 0 });
    const thread = client.beta.messages.thread({ model: 'sim-small', max_tokens: 50, unsupportedRequestBehavior });
    const texts = [await ask(thread, 'One'), await ask(thread, 'Two')];
    return { texts, sent: provider.requests.map(({ body }) => JSON.parse(body) as { messages: unknown }) };
  } finally {
    await gateway.close();
    await provider.close();
  }
}

describe.each(WAYS)('a message thread against an OpenAI-only model, %s', (_way, ask) => {
  it.each([
    ['refused', undefined],
    ['dropped, which would lose the conversation', dropping],
  ])(
    'goes on without a thread by the SDK alone, with the full conversation, where fields are %s',
    async (_, change) => {
      const { texts, sent } = await twoTurns(ask, 'continue_unthreaded', change);
      expect(texts).toEqual(['Hello there', 'Hello there']);
      expect(sent.map(({ messages }) => messages)).toEqual([
        [{ role: 'user', content: 'One' }],
        [
          { role: 'user', content: 'One' },
          { role: 'assistant', content: 'Hello there' },
          { role: 'user', content: 'Two' },
        ],
      ]);
      expect(JSON.stringify(sent)).not.toContain('thread');
    },
  );

  it("is refused by the SDK's own class of error, which says what to send, where the caller wants errors", async () => {
    const refused = await twoTurns(ask, 'error').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Anthropic.Messages.ThreadUnsupportedRequestError);
    expect(String(refused)).toContain('send the full conversation without it');
  });
});
