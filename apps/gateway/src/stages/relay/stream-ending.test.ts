import { cutStream } from './stream-ending.ts';

const usage = { input: 5, cache_read: 0, cache_write: 0, output: 7, reasoning: 0, audio: 0 };
const openai = (text: string) =>
  `data: {"id":"c1","object":"chat.completion.chunk","created":9,"model":"m","choices":[{"index":0,"delta":{"content":"${text}"}}]}\n\n`;
const delta = (index: number) =>
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"text_delta","text":"Hi"}}\n\n`;

const eventsOf = (bytes: Buffer | undefined): unknown[] =>
  (bytes?.toString() ?? '')
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => {
      const data = event.slice(event.indexOf('data: ') + 6);
      return data === '[DONE]' ? data : JSON.parse(data);
    });

describe('a stream that is cut', () => {
  it('ends an OpenAI answer with finish_reason length for each choice, the counts if asked for, and [DONE]', () => {
    const cut = cutStream('openai', Buffer.from(openai('Hi')), 2, usage);
    expect(cut?.forward.toString()).toBe(openai('Hi'));
    expect(eventsOf(cut?.ending)).toEqual([
      {
        id: 'c1',
        object: 'chat.completion.chunk',
        created: 9,
        model: 'm',
        choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: 'length' }],
      },
      {
        id: 'c1',
        object: 'chat.completion.chunk',
        created: 9,
        model: 'm',
        choices: [{ index: 1, delta: {}, logprobs: null, finish_reason: 'length' }],
      },
      {
        id: 'c1',
        object: 'chat.completion.chunk',
        created: 9,
        model: 'm',
        choices: [],
        usage: {
          prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, audio_tokens: 0 },
          completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
          prompt_tokens: 5,
          completion_tokens: 7,
          total_tokens: 12,
        },
      },
      '[DONE]',
    ]);
    expect(eventsOf(cutStream('openai', Buffer.from(openai('Hi')), 1, undefined)?.ending)).toHaveLength(2);
  });

  it('ends an Anthropic message: the open block, stop_reason max_tokens, message_stop', () => {
    expect(eventsOf(cutStream('anthropic', Buffer.from(delta(3)), 1, usage)?.ending)).toEqual([
      { type: 'content_block_stop', index: 3 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'max_tokens', stop_sequence: null },
        usage: { input_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 7 },
      },
      { type: 'message_stop' },
    ]);
    const closed = `${delta(3)}event: content_block_stop\ndata: {"type":"content_block_stop","index":3}\n\n`;
    expect(eventsOf(cutStream('anthropic', Buffer.from(closed), 1, usage)?.ending)).toHaveLength(2);
  });

  it('forwards no half event', () => {
    const cut = cutStream('openai', Buffer.from(openai('Hi') + openai('there').slice(0, 40)), 1, undefined);
    expect(cut?.forward.toString()).toBe(openai('Hi'));
  });

  it.each([
    ['has no end of an event', 'openai', openai('Hi').slice(0, 30)],
    ['holds only the rest of an event', 'openai', '"}}]}\n\n'],
    ['holds only a ping', 'anthropic', 'event: ping\ndata: {"type":"ping"}\n\n'],
  ] as const)('waits for the next buffer when this one %s', (_why, dialect, text) => {
    expect(cutStream(dialect, Buffer.from(text), 1, usage)).toBeUndefined();
  });
});
