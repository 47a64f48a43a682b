import fc from 'fast-check';

/** An answer in no dialect: what must come out of every way as it went in. */
export interface Answer {
  readonly text: string;
  readonly tools: readonly { readonly id: string; readonly name: string; readonly args: string }[];
  /** Where pieces of a stream are cut. */
  readonly cuts: readonly number[];
}

const values = fc.oneof(
  fc.constantFrom(
    '1234567890123456789',
    '1.0',
    '-0',
    '1e400',
    '0.10000000000000000555',
    'null',
    '"\\u0000\\ud83d\\ude00\\""',
    '[]',
    '{"b":{}}',
  ),
  fc.jsonValue({ maxDepth: 1 }).map((value) => JSON.stringify(value)),
);
const args = fc
  .uniqueArray(fc.tuple(fc.stringMatching(/^[a-z0-9_]{1,4}$/), values), { maxLength: 3, selector: ([key]) => key })
  .map((members) => `{${members.map(([key, value]) => `"${key}": ${value}`).join(',')}}`);

/** Text without lone halves of characters, which no encoding can carry. */
export const answers: fc.Arbitrary<Answer> = fc.record({
  text: fc.string({ unit: 'grapheme', maxLength: 30 }),
  tools: fc.uniqueArray(
    fc.record({ id: fc.stringMatching(/^[a-zA-Z0-9_.:-]{1,12}$/), name: fc.stringMatching(/^[a-z]{1,6}$/), args }),
    { maxLength: 3, selector: ({ id }) => id },
  ),
  cuts: fc.array(fc.nat(40), { maxLength: 4 }),
});

interface Rendered {
  readonly whole: string;
  readonly events: string;
}

interface Read {
  readonly text: string;
  readonly tools: { name: string; args: string }[];
}

function pieces(text: string, cuts: readonly number[]): string[] {
  const points = [...text];
  const places = [...new Set(cuts.map((at) => at % (points.length + 1)))].sort((a, b) => a - b);
  return [0, ...places]
    .map((from, i) => points.slice(from, places[i] ?? points.length).join(''))
    .filter((piece) => piece !== '');
}

export function renderOpenai({ text, tools, cuts }: Answer): Rendered {
  const finish_reason = tools.length > 0 ? 'tool_calls' : 'stop';
  const calls = tools.map(({ id, name, args: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: given },
  }));
  const head = { id: 'c', model: 'm' };
  const usage = { prompt_tokens: 3, completion_tokens: 4 };
  const chunk = (delta: object, finish: string | null = null): string =>
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const streamed = [
    ...pieces(text, cuts).map((piece) => chunk({ content: piece })),
    ...tools.flatMap(({ id, name, args: given }, index) => [
      chunk({ tool_calls: [{ index, id, function: { name, arguments: '' } }] }),
      ...pieces(given, cuts).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
    chunk({}, finish_reason),
    'data: [DONE]\n\n',
  ];
  return {
    whole: JSON.stringify({
      ...head,
      choices: [{ index: 0, message: { role: 'assistant', content: text, tool_calls: calls }, finish_reason }],
      usage,
    }),
    events: streamed.join(''),
  };
}

export function renderAnthropic({ text, tools, cuts }: Answer): Rendered {
  const stop_reason = tools.length > 0 ? 'tool_use' : 'end_turn';
  const event = (type: string, rest: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
  const blocks = [
    ...(text === '' ? [] : [`{"type":"text","text":${JSON.stringify(text)}}`]),
    ...tools.map(
      ({ id, name, args: given }) =>
        `{"type":"tool_use","id":${JSON.stringify(id)},"name":${JSON.stringify(name)},"input":${given}}`,
    ),
  ];
  const shift = text === '' ? 0 : 1;
  const streamed = [
    event('message_start', { message: { id: 'msg', model: 'm', usage: { input_tokens: 3, output_tokens: 1 } } }),
    ...(text === ''
      ? []
      : [
          event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
          ...pieces(text, cuts).map((piece) =>
            event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: piece } }),
          ),
          event('content_block_stop', { index: 0 }),
        ]),
    ...tools.flatMap(({ id, name, args: given }, i) => [
      event('content_block_start', { index: i + shift, content_block: { type: 'tool_use', id, name, input: {} } }),
      ...pieces(given, cuts).map((piece) =>
        event('content_block_delta', { index: i + shift, delta: { type: 'input_json_delta', partial_json: piece } }),
      ),
      event('content_block_stop', { index: i + shift }),
    ]),
    event('message_delta', { delta: { stop_reason }, usage: { output_tokens: 4 } }),
    event('message_stop', {}),
  ];
  return {
    whole: `{"id":"msg","type":"message","model":"m","content":[${blocks.join(',')}],"stop_reason":"${stop_reason}","usage":{"input_tokens":3,"output_tokens":4}}`,
    events: streamed.join(''),
  };
}

function dataOf(events: string): Record<string, never>[] {
  return [...events.matchAll(/(?<=^|\n)data: (\{[^\n]*)/g)].map(
    ([, data]) => JSON.parse(data as string) as Record<string, never>,
  );
}

/** What a chat completion says. */
export const readCompletion = {
  whole(text: string): Read {
    const { message } = JSON.parse(text).choices[0] as {
      message: { content: string | null; tool_calls?: { function: { name: string; arguments: string } }[] };
    };
    return {
      text: message.content ?? '',
      tools: (message.tool_calls ?? []).map(({ function: made }) => ({ name: made.name, args: made.arguments })),
    };
  },
  events(text: string): Read {
    const tools: { name: string; args: string }[] = [];
    let said = '';
    for (const { choices } of dataOf(text) as unknown as {
      choices: {
        delta: { content?: string; tool_calls?: { index: number; function: { name?: string; arguments: string } }[] };
      }[];
    }[]) {
      const delta = choices[0]?.delta;
      said += delta?.content ?? '';
      for (const { index, function: made } of delta?.tool_calls ?? [])
        (tools[index] ??= { name: made.name ?? '', args: '' }).args += made.arguments;
    }
    return { text: said, tools };
  },
};

/** What a message says; the inputs of its tools as they are written. */
export const readMessage = {
  whole(text: string): Read {
    const { content } = JSON.parse(text) as { content: { type: string; text?: string; name?: string }[] };
    const said = content.map((block) => block.text ?? '').join('');
    const inputs = inputsOf(text);
    return {
      text: said,
      tools: content
        .filter(({ type }) => type === 'tool_use')
        .map(({ name }, i) => ({ name: name ?? '', args: inputs[i] ?? '' })),
    };
  },
  events(text: string): Read {
    const tools: { name: string; args: string }[] = [];
    let said = '';
    for (const event of dataOf(text) as unknown as {
      type: string;
      content_block?: { type: string; name: string };
      delta?: { text?: string; partial_json?: string };
    }[]) {
      if (event.content_block?.type === 'tool_use') tools.push({ name: event.content_block.name, args: '' });
      said += event.delta?.text ?? '';
      const tool = tools.at(-1);
      if (tool !== undefined) tool.args += event.delta?.partial_json ?? '';
    }
    return { text: said, tools };
  },
};

/** Inputs in a message that this gateway wrote: `input` is the last member of a tool's block. */
function inputsOf(message: string): string[] {
  const inputs: string[] = [];
  for (const part of message.split('{"type":"tool_use","id":"').slice(1)) {
    const start = part.indexOf(',"input":') + ',"input":'.length;
    let end = start + 1;
    // A text that is no JSON is expensive to try: an object ends nowhere but at a brace.
    while (end <= part.length && (part[end - 1] !== '}' || !isJson(part.slice(start, end)))) end += 1;
    inputs.push(part.slice(start, end));
  }
  return inputs;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
