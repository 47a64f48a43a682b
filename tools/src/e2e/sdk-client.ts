import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

/** One turn of a conversation, in the words of neither SDK. */
export type Turn =
  | { readonly user: string; readonly image?: string }
  | { readonly assistant: string; readonly calls?: readonly ToolCall[] }
  | { readonly results: readonly { readonly id: string; readonly content: string; readonly failed?: boolean }[] };

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface Tool {
  readonly name: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface Question {
  readonly model: string;
  readonly turns: readonly Turn[];
  readonly system?: string;
  readonly stream?: boolean;
  readonly maxTokens?: number;
  readonly tools?: readonly Tool[];
  readonly choice?: 'auto' | 'none' | 'any' | { readonly name: string };
  readonly oneAtATime?: boolean;
  readonly jsonSchema?: Readonly<Record<string, unknown>>;
  readonly stop?: string;
  readonly user?: string;
  readonly sim?: object;
}

export interface Reply {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly stop: 'end' | 'length' | 'tool' | string;
  readonly usage: { readonly input: number; readonly cached: number; readonly output: number };
  readonly headers: Headers;
  /** Pieces that a stream came in; 1 for a whole answer. */
  readonly pieces: number;
}

/** An SDK as a test drives it. */
export interface SdkClient {
  ask(question: Question): Promise<Reply>;
}

const DATA_URL = /^data:(image\/png);base64,(.*)$/;

/** The `openai` package, unmodified. */
export function openaiClient(url: string, apiKey: string): SdkClient {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
  return {
    async ask(question) {
      const { response_format: format, ...rest } = {
        ...openaiBody(question),
        response_format: undefined,
        ...(question.jsonSchema === undefined
          ? {}
          : {
              response_format: {
                type: 'json_schema' as const,
                json_schema: { name: 'answer', strict: true, schema: question.jsonSchema },
              },
            }),
      };
      const body = format === undefined ? rest : { ...rest, response_format: format };
      let pieces = 0;
      let headers: Headers;
      let answer: OpenAI.ChatCompletion;
      if (question.stream === true) {
        const stream = client.chat.completions.stream({ ...body, stream_options: { include_usage: true } });
        stream.on('chunk', () => (pieces += 1));
        const connected = new Promise<void>((resolve) => stream.on('connect', () => resolve()));
        answer = await stream.finalChatCompletion();
        await connected;
        headers = new Headers();
      } else {
        const { data, response } = await client.chat.completions.create(body).withResponse();
        answer = data;
        headers = response.headers;
        pieces = 1;
      }
      const choice = answer.choices[0];
      const finish = choice?.finish_reason ?? '';
      return {
        text: choice?.message.content ?? '',
        calls: (choice?.message.tool_calls ?? []).flatMap((call) =>
          call.type === 'function'
            ? [
                {
                  id: call.id,
                  name: call.function.name,
                  input: JSON.parse(call.function.arguments) as Record<string, unknown>,
                },
              ]
            : [],
        ),
        stop: { stop: 'end', tool_calls: 'tool' }[finish as string] ?? finish,
        usage: {
          input: answer.usage?.prompt_tokens ?? -1,
          cached: answer.usage?.prompt_tokens_details?.cached_tokens ?? 0,
          output: answer.usage?.completion_tokens ?? -1,
        },
        headers,
        pieces,
      };
    },
  };
}

function openaiBody(question: Question) {
  const messages: OpenAI.ChatCompletionMessageParam[] =
    question.system === undefined ? [] : [{ role: 'system', content: question.system }];
  for (const turn of question.turns) {
    if ('user' in turn)
      messages.push({
        role: 'user',
        content:
          turn.image === undefined
            ? turn.user
            : [
                { type: 'text', text: turn.user },
                { type: 'image_url', image_url: { url: turn.image } },
              ],
      });
    else if ('assistant' in turn) {
      const calls = turn.calls?.map(({ id, name, input }) => ({
        id,
        type: 'function' as const,
        function: { name, arguments: JSON.stringify(input) },
      }));
      messages.push({
        role: 'assistant',
        content: turn.assistant,
        ...(calls === undefined ? {} : { tool_calls: calls }),
      });
    } else for (const { id, content } of turn.results) messages.push({ role: 'tool', tool_call_id: id, content });
  }
  const { choice } = question;
  return {
    model: question.model,
    messages,
    max_completion_tokens: question.maxTokens ?? 500,
    ...(question.tools === undefined
      ? {}
      : {
          tools: question.tools.map(({ name, schema }) => ({
            type: 'function' as const,
            function: { name, parameters: schema as Record<string, unknown> },
          })),
        }),
    ...(choice === undefined
      ? {}
      : {
          tool_choice:
            typeof choice === 'object'
              ? { type: 'function' as const, function: choice }
              : choice === 'any'
                ? ('required' as const)
                : choice,
        }),
    ...(question.oneAtATime === true ? { parallel_tool_calls: false } : {}),
    ...(question.stop === undefined ? {} : { stop: question.stop }),
    ...(question.user === undefined ? {} : { user: question.user }),
    ...({ sim: question.sim ?? {} } as object),
  };
}

/** The `@anthropic-ai/sdk` package, unmodified. */
export function anthropicClient(url: string, apiKey: string): SdkClient {
  const client = new Anthropic({ baseURL: url, apiKey, maxRetries: 0 });
  return {
    async ask(question) {
      const body = anthropicBody(question);
      let pieces = 1;
      let headers = new Headers();
      let message: Anthropic.Message;
      if (question.stream === true) {
        const stream = client.messages.stream(body);
        pieces = 0;
        stream.on('streamEvent', () => (pieces += 1));
        message = await stream.finalMessage();
        headers = stream.response?.headers ?? headers;
      } else {
        const { data, response } = await client.messages.create(body).withResponse();
        message = data;
        headers = response.headers;
      }
      const { usage } = message;
      const cached = usage.cache_read_input_tokens ?? 0;
      return {
        text: message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
        calls: message.content.flatMap((block) =>
          block.type === 'tool_use'
            ? [{ id: block.id, name: block.name, input: block.input as Record<string, unknown> }]
            : [],
        ),
        stop:
          { end_turn: 'end', max_tokens: 'length', tool_use: 'tool' }[message.stop_reason as string] ??
          String(message.stop_reason),
        usage: {
          input: usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0),
          cached,
          output: usage.output_tokens,
        },
        headers,
        pieces,
      };
    },
  };
}

function anthropicBody(question: Question): Anthropic.MessageCreateParamsNonStreaming {
  const messages: Anthropic.MessageParam[] = question.turns.map((turn) => {
    if ('user' in turn)
      return {
        role: 'user',
        content:
          turn.image === undefined
            ? turn.user
            : [
                { type: 'text', text: turn.user },
                { type: 'image', source: imageSource(turn.image) },
              ],
      };
    if ('assistant' in turn) {
      const calls = (turn.calls ?? []).map(({ id, name, input }) => ({
        type: 'tool_use' as const,
        id,
        name,
        input: { ...input },
      }));
      return {
        role: 'assistant',
        content: [...(turn.assistant === '' ? [] : [{ type: 'text' as const, text: turn.assistant }]), ...calls],
      };
    }
    return {
      role: 'user',
      content: turn.results.map(({ id, content, failed }) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: [{ type: 'text' as const, text: content }],
        ...(failed === true ? { is_error: true } : {}),
      })),
    };
  });
  const { choice } = question;
  const single = question.oneAtATime === true ? { disable_parallel_tool_use: true } : {};
  const toolChoice: Anthropic.ToolChoice | undefined =
    choice === undefined
      ? question.oneAtATime === true
        ? { type: 'auto', ...single }
        : undefined
      : typeof choice === 'object'
        ? { type: 'tool', name: choice.name, ...single }
        : choice === 'none'
          ? { type: 'none' }
          : { type: choice, ...single };
  return {
    model: question.model,
    messages,
    max_tokens: question.maxTokens ?? 500,
    ...(question.system === undefined ? {} : { system: question.system }),
    ...(question.tools === undefined
      ? {}
      : {
          tools: question.tools.map(({ name, schema }) => ({
            name,
            input_schema: schema as Anthropic.Tool.InputSchema,
          })),
        }),
    ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
    ...(question.jsonSchema === undefined
      ? {}
      : { output_config: { format: { type: 'json_schema' as const, schema: { ...question.jsonSchema } } } }),
    ...(question.stop === undefined ? {} : { stop_sequences: [question.stop] }),
    ...(question.user === undefined ? {} : { metadata: { user_id: question.user } }),
    ...({ sim: question.sim ?? {} } as object),
  };
}

function imageSource(url: string): Anthropic.ImageBlockParam['source'] {
  const data = DATA_URL.exec(url);
  return data === null ? { type: 'url', url } : { type: 'base64', media_type: 'image/png', data: data[2] as string };
}
