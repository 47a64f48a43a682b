import { isFault } from '@sluice/contracts';
import {
  anthropicAdapter,
  callOf,
  chunk,
  delta,
  DONE,
  type Events,
  finish,
  named,
  openaiAdapter,
  readStream,
  START,
  STOP,
  textBlock,
} from '../wire.fixture.ts';
import { rawTexts, RawJson, stringifyWithRaw } from './raw-json.ts';
import { toAnthropicToolId, toOpenaiToolId } from './tool-ids.ts';

interface Tool {
  readonly id: string;
  readonly name: string;
  /** Arguments as their text. */
  readonly args: string;
}

interface Said {
  readonly text: string;
  readonly tools: Tool[];
  readonly stop: unknown;
}

const call = (id: unknown, name: string, args: unknown, index?: number): object => ({
  ...(index === undefined ? {} : { index }),
  ...(id === undefined ? {} : { id }),
  type: 'function',
  function: { name, arguments: args },
});
const more = (args: string, index?: number): object => ({
  ...(index === undefined ? {} : { index }),
  function: { arguments: args },
});
const calls = (...tool_calls: object[]): string => delta({ tool_calls });
const ofOpenai = (text: string) => readStream(openaiAdapter.createStreamReader(callOf('messages')), text);
const ofAnthropic = (text: string) => readStream(anthropicAdapter.createStreamReader(callOf('chat')), text);

/** What the blocks of message events say. Each must begin, go on and end in its turn. */
function messageOf(events: Events): Said {
  const tools: (Tool & { args: string })[] = [];
  let text = '';
  let open = -1;
  let stop: unknown;
  for (const event of events as unknown as Record<string, Record<string, string> & string>[]) {
    if (event.type === 'content_block_start') {
      expect(open).toBe(-1);
      open = Number(event.index);
      const { type, id, name } = event.content_block as unknown as Record<string, string>;
      if (type === 'tool_use') tools.push({ id: id as string, name: name as string, args: '' });
    } else if (event.type === 'content_block_delta') {
      expect(event.index).toBe(open);
      const { text: said, partial_json } = event.delta as unknown as Record<string, string>;
      if (partial_json !== undefined) (tools.at(-1) as { args: string }).args += partial_json;
      text += said ?? '';
    } else if (event.type === 'content_block_stop') {
      expect(event.index).toBe(open);
      open = -1;
    } else if (event.type === 'message_delta') stop = (event.delta as unknown as Record<string, string>).stop_reason;
  }
  expect(open).toBe(-1);
  return { text, tools: tools.map((tool) => ({ ...tool, args: tool.args || '{}' })), stop };
}

function wholeMessage(message: object, finish_reason: string): Said {
  const answer = { id: 'chatcmpl-1', model: 'gpt-x', choices: [{ index: 0, message, finish_reason }] };
  const read = openaiAdapter.readWhole(callOf('messages'), Buffer.from(stringifyWithRaw(answer)));
  if (isFault(read)) throw new Error(read.detail);
  const json = String(read.body);
  const parsed = JSON.parse(json) as { content: Record<string, string>[]; stop_reason: string };
  const inputs = rawTexts(json, ['content', '*', 'input']);
  return {
    text: parsed.content.map(({ text = '' }) => text).join(''),
    tools: parsed.content.flatMap(({ type, id, name }, i) =>
      type === 'tool_use' ? [{ id: id as string, name: name as string, args: inputs.get(`${i}`) as string }] : [],
    ),
    stop: parsed.stop_reason,
  };
}

const BIG = '{"n":1234567890123456789,"m":[0.10000000000000000555,-0,1e400],"10":1,"2":2}';

describe('a message that an OpenAI provider answers', () => {
  it.each<[string, string, Tool[]]>([
    [
      'two calls at the same index with different ids',
      calls(call('a', 'f', '{"x":1}', 0)) + calls(call('b', 'g', '{"y":2}', 0)),
      [
        { id: 'a', name: 'f', args: '{"x":1}' },
        { id: 'b', name: 'g', args: '{"y":2}' },
      ],
    ],
    [
      'two calls without an index',
      calls(call('a', 'f', '{"x":1}')) + calls(call('b', 'g', '{"y":2}')),
      [
        { id: 'a', name: 'f', args: '{"x":1}' },
        { id: 'b', name: 'g', args: '{"y":2}' },
      ],
    ],
    [
      'two calls without an index in one chunk',
      calls(call('a', 'f', '{"x":1}'), call('b', 'g', '{"y":2}')),
      [
        { id: 'a', name: 'f', args: '{"x":1}' },
        { id: 'b', name: 'g', args: '{"y":2}' },
      ],
    ],
    [
      'pieces that repeat the id and have no index',
      calls(call('a', 'f', '{"x"')) + calls(call('a', '', ':1}')),
      [{ id: 'a', name: 'f', args: '{"x":1}' }],
    ],
    [
      'calls whose pieces are mixed',
      calls(call('a', 'f', '', 0), call('b', 'g', '', 1)) +
        calls(more('{"y"', 1)) +
        calls(more('{"x"', 0)) +
        calls(more(':2}', 1)) +
        calls(more(':1}', 0)),
      [
        { id: 'a', name: 'f', args: '{"x":1}' },
        { id: 'b', name: 'g', args: '{"y":2}' },
      ],
    ],
    [
      'a name that comes after the id',
      calls({ index: 0, id: 'a' }) + calls({ index: 0, function: { name: 'f' } }) + calls(more('{"x":1}', 0)),
      [{ id: 'a', name: 'f', args: '{"x":1}' }],
    ],
    [
      'an id that comes after the name',
      calls(call('', 'f', '{"x":1}', 0)) + calls(call('b', 'g', '{}', 1)),
      [
        { id: 'call_chatcmpl-1_0', name: 'f', args: '{"x":1}' },
        { id: 'b', name: 'g', args: '{}' },
      ],
    ],
    [
      'calls without ids at the same index',
      calls(call(undefined, 'f', '{"x":1}', 0)) + calls(call(undefined, 'f', '{"x":2}', 0)),
      [
        { id: 'call_chatcmpl-1_0', name: 'f', args: '{"x":1}' },
        { id: 'call_chatcmpl-1_1', name: 'f', args: '{"x":2}' },
      ],
    ],
    [
      'the same id twice',
      calls(call('a', 'f', '{"x":1}', 0)) + calls(call('a', 'g', '{"y":2}', 1)),
      [
        { id: 'a', name: 'f', args: '{"x":1}' },
        { id: 'a_1', name: 'g', args: '{"y":2}' },
      ],
    ],
    [
      'an id that Anthropic would not take',
      calls(call('functions.Bash:0', 'f', '{}', 0)),
      [{ id: 'enc-ZnVuY3Rpb25zLkJhc2g6MA', name: 'f', args: '{}' }],
    ],
    [
      'numbers beyond 2^53',
      calls(call('a', 'f', '{"n":12345678', 0)) + calls(more('90123456789}', 0)),
      [{ id: 'a', name: 'f', args: '{"n":1234567890123456789}' }],
    ],
    [
      'no arguments',
      calls(call('a', 'f', '', 0)) + calls(call('b', 'g', null, 1)),
      [
        { id: 'a', name: 'f', args: '{}' },
        { id: 'b', name: 'g', args: '{}' },
      ],
    ],
    [
      'a call of the old kind',
      delta({ function_call: { name: 'f', arguments: '{"x"' } }) + delta({ function_call: { arguments: ':1}' } }),
      [{ id: 'call_chatcmpl-1_0', name: 'f', args: '{"x":1}' }],
    ],
  ])('has one tool_use block for each of %s', (_what, text, tools) => {
    const { reader, events } = ofOpenai(
      delta({ role: 'assistant', content: 'Hm' }) + text + delta({}, 'tool_calls') + DONE,
    );
    expect(reader).toMatchObject({ ended: true, fault: undefined });
    expect(messageOf(events)).toEqual({ text: 'Hm', tools, stop: 'tool_use' });
  });

  it('has text between two calls whose arguments are not complete after the first', () => {
    const { events } = ofOpenai(
      calls(call('a', 'f', '{"x"', 0)) +
        delta({ content: 'Hm' }) +
        calls(more(':1}', 0)) +
        delta({}, 'tool_calls') +
        DONE,
    );
    expect(messageOf(events)).toEqual({
      text: 'Hm',
      tools: [{ id: 'a', name: 'f', args: '{"x":1}' }],
      stop: 'tool_use',
    });
  });

  it('takes arguments as an object with all of their digits, whole and streamed', () => {
    const made = { name: 'f', arguments: new RawJson(BIG) };
    const tools = [{ id: 'a', name: 'f', args: BIG }];
    expect(wholeMessage({ content: null, tool_calls: [{ id: 'a', function: made }] }, 'tool_calls').tools).toEqual(
      tools,
    );
    const data = stringifyWithRaw({
      id: 'c',
      choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 'a', function: made }] } }],
    });
    expect(messageOf(ofOpenai(`data: ${data}\n\n${delta({}, 'tool_calls')}${DONE}`).events).tools).toEqual(tools);
  });

  it('keeps the text of arguments, whole and streamed', () => {
    const tools = [{ id: 'a', name: 'f', args: BIG }];
    expect(wholeMessage({ tool_calls: [call('a', 'f', BIG)] }, 'tool_calls').tools).toEqual(tools);
    expect(messageOf(ofOpenai(calls(call('a', 'f', BIG, 0)) + delta({}, 'stop') + DONE).events).tools).toEqual(tools);
  });

  it.each([
    ['an array', [1]],
    ['a text that is no object', '[1]'],
    ['a text that is cut', '{"x":'],
    ['a number', 7],
  ])('is a fault where arguments are %s, whole and streamed', (_what, args) => {
    expect(() => wholeMessage({ tool_calls: [call('a', 'f', args)] }, 'tool_calls')).toThrow(/arguments/);
    const { reader } = ofOpenai(calls(call('a', 'f', args, 0)) + delta({}, 'tool_calls') + DONE);
    expect(reader).toMatchObject({ ended: false, fault: { kind: 'malformed' } });
  });

  it.each([
    ['stop', true, 'tool_use'],
    ['tool_calls', true, 'tool_use'],
    ['function_call', true, 'tool_use'],
    ['eos', true, 'tool_use'],
    ['tool_calls', false, 'end_turn'],
    ['stop', false, 'end_turn'],
    ['length', true, 'max_tokens'],
    ['content_filter', false, 'refusal'],
  ])('that finished for %s, with a tool: %s, stops for %s, whole and streamed', (reason, hasTool, stop) => {
    const tool_calls = hasTool ? [call('a', 'f', '{}', 0)] : [];
    expect(wholeMessage({ content: 'x', tool_calls }, reason).stop).toBe(stop);
    expect(messageOf(ofOpenai(delta({ content: 'x', tool_calls }) + delta({}, reason) + DONE).events).stop).toBe(stop);
  });

  it.each([
    [
      'texts',
      [
        { type: 'text', text: 'He' },
        { type: 'text', text: 'llo' },
      ],
      'Hello',
    ],
    [
      'thoughts and text',
      [
        { type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] },
        { type: 'text', text: 'Hello' },
      ],
      'Hello',
    ],
  ])('whose content comes in parts keeps its text: %s', (_what, content, text) => {
    expect(wholeMessage({ content }, 'stop').text).toBe(text);
    expect(messageOf(ofOpenai(delta({ content }) + delta({}, 'stop') + DONE).events).text).toBe(text);
  });

  it('whose content cannot be read is a fault', () => {
    expect(() => wholeMessage({ content: [{ type: 'image_url' }] }, 'stop')).toThrow(/content/);
    expect(ofOpenai(delta({ content: [{ type: 'image_url' }] })).reader.fault?.kind).toBe('malformed');
  });

  it('has the id and the model of the first chunk that has them', () => {
    const azure = chunk({ id: '', model: '', object: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] });
    const { events } = ofOpenai(
      azure + delta({ role: 'assistant', content: '' }) + delta({ content: 'x' }) + delta({}, 'stop') + DONE,
    );
    expect(events[0]).toMatchObject({ type: 'message_start', message: { id: 'chatcmpl-1', model: 'gpt-x' } });
  });
});

/** What the chunks of an answer say; calls by their index. */
function completionOf(events: Events): Said {
  const tools: (Tool & { args: string })[] = [];
  let text = '';
  let stop: unknown;
  for (const { choices } of events as unknown as {
    choices: { delta: Record<string, unknown>; finish_reason: unknown }[];
  }[]) {
    const [first] = choices;
    text += (first?.delta.content as string | undefined) ?? '';
    stop = first?.finish_reason ?? stop;
    for (const tool of (first?.delta.tool_calls ?? []) as {
      index: number;
      id?: string;
      function: { name?: string; arguments: string };
    }[]) {
      const known = (tools[tool.index] ??= { id: tool.id as string, name: tool.function.name as string, args: '' });
      known.args += tool.function.arguments;
    }
  }
  return { text, tools, stop };
}

function wholeCompletion(content: readonly object[], stop_reason: string): Said {
  const answer = {
    id: 'msg_1',
    type: 'message',
    model: 'claude-x',
    content,
    stop_reason,
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  const read = anthropicAdapter.readWhole(callOf('chat'), Buffer.from(stringifyWithRaw(answer)));
  if (isFault(read)) throw new Error(read.detail);
  const [choice] = (
    JSON.parse(String(read.body)) as {
      choices: {
        message: {
          content: string | null;
          tool_calls?: { id: string; function: { name: string; arguments: string } }[];
        };
        finish_reason: string;
      }[];
    }
  ).choices;
  return {
    text: choice?.message.content ?? '',
    tools: (choice?.message.tool_calls ?? []).map(({ id, function: made }) => ({
      id,
      name: made.name,
      args: made.arguments,
    })),
    stop: choice?.finish_reason,
  };
}

const useOf = (index: number, id: string, input: unknown): string =>
  `event: content_block_start\ndata: ${stringifyWithRaw({ type: 'content_block_start', index, content_block: { type: 'tool_use', id, name: 'f', input } })}\n\n`;
const json = (index: number, partial_json: string): string =>
  named('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json } });
const end = (index: number): string => named('content_block_stop', { index });

describe('a completion that an Anthropic provider answers', () => {
  it.each<[string, string, string[]]>([
    ['no arguments', useOf(0, 'a', {}) + end(0), ['{}']],
    ['no arguments and an empty piece', useOf(0, 'a', {}) + json(0, '') + end(0), ['{}']],
    ['no arguments and no end of its block', useOf(0, 'a', {}), ['{}']],
    ['its input at the beginning', useOf(0, 'a', new RawJson(BIG)) + end(0), [BIG]],
    ['its input in pieces', useOf(0, 'a', {}) + json(0, '{"x"') + json(0, ':1}') + end(0), ['{"x":1}']],
    [
      'pieces that are mixed',
      useOf(0, 'a', {}) + useOf(1, 'b', {}) + json(1, '{"y":2}') + json(0, '{"x":1}') + end(0) + end(1),
      ['{"x":1}', '{"y":2}'],
    ],
    [
      "a search of the provider's own before it",
      named('content_block_start', {
        index: 0,
        content_block: { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
      }) +
        json(0, '{"query":"x"}') +
        end(0) +
        useOf(1, 'a', {}) +
        json(1, '{"x":1}') +
        end(1),
      ['{"x":1}'],
    ],
  ])('has the arguments of a tool with %s', (_what, text, args) => {
    const { reader, events } = ofAnthropic(START + text + finish('tool_use') + STOP);
    expect(reader).toMatchObject({ ended: true, fault: undefined });
    const said = completionOf(events);
    expect(said.tools.map((tool) => tool.args)).toEqual(args);
    expect(said.stop).toBe('tool_calls');
  });

  it('keeps the text of an input, whole', () => {
    expect(wholeCompletion([{ type: 'tool_use', id: 'a', name: 'f', input: new RawJson(BIG) }], 'tool_use')).toEqual({
      text: '',
      tools: [{ id: 'a', name: 'f', args: BIG }],
      stop: 'tool_calls',
    });
  });

  it.each([
    ['tool_use', false, 'stop'],
    ['end_turn', true, 'tool_calls'],
    ['max_tokens', true, 'length'],
  ])('that stopped for %s, with a tool: %s, finished for %s, whole and streamed', (reason, hasTool, stop) => {
    const content = hasTool ? [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] : [{ type: 'text', text: 'x' }];
    expect(wholeCompletion(content, reason).stop).toBe(stop);
    const text = hasTool ? useOf(0, 'a', {}) + end(0) : textBlock('x');
    expect(completionOf(ofAnthropic(START + text + finish(reason) + STOP).events).stop).toBe(stop);
  });
});

describe('raw JSON', () => {
  it('stands for itself in a larger text, whatever is in it', () => {
    for (const text of [BIG, '{"a":"\\u0000\\ud83d\\ude00\\"}"}', ' [1, {"b" : null}] ', '"$&"'])
      expect(stringifyWithRaw({ a: 'x', b: [new RawJson(text)] })).toBe(`{"a":"x","b":[${text}]}`);
  });

  it('is found at its path as it was written; of members of one name the last counts', () => {
    const text = '{"x": [1], "a":[{"b":{"c": 1.0 }},{"b":{}}, {"b":{"c":"q\\"}"},"b":{"c":[ 2 ]}},{"b":5}]}';
    expect([...rawTexts(text, ['a', '*', 'b', 'c'])]).toEqual([
      ['0', '1.0'],
      ['2', '[ 2 ]'],
    ]);
  });
});

describe('the id of a tool call', () => {
  it.each(['functions.Bash:0', 'a b', 'ünï', 'enc-x', 'x'.repeat(200), 'toolu_01', 'call-1_A'])(
    '%s comes back from the other dialect',
    (id) => {
      const theirs = toAnthropicToolId(id);
      expect(theirs).toMatch(/^[a-zA-Z0-9_-]+$/);
      if (id.length <= 40) expect(toOpenaiToolId(theirs)).toBe(id);
      expect(toOpenaiToolId(theirs)).toBe(toOpenaiToolId(theirs));
    },
  );

  it('that is too long for OpenAI is one that is not, the same each time', () => {
    const id = 'toolu_' + 'x'.repeat(60);
    expect(toOpenaiToolId(id)).toMatch(/^call_[0-9a-f]{32}$/);
    expect(toOpenaiToolId(id)).not.toBe(toOpenaiToolId(id + 'y'));
  });
});
