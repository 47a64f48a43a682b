import { type SimInstruction } from '@sluice/contracts';
import { argumentsFor, fragmentsOf, jsonFor, wordsFor } from './answer-text.ts';
import { readHistory, THOUGHT } from './history.ts';
import {
  countTokens,
  hashOf,
  isObject,
  readCount,
  readInstruction,
  readMessages,
  readModel,
  Refusal,
  speedOf,
  textOf,
  wantedTokens,
  type JsonObject,
  type SimCall,
  type SimModel,
  type ToolCall,
} from './sim-call.ts';

interface Tool {
  readonly name: string;
  readonly schema: unknown;
}

/** What a request says of tools, in the words of neither dialect. */
interface ToolWish {
  readonly tools: readonly Tool[];
  readonly choice: 'auto' | 'none' | 'any' | { readonly name: unknown };
  readonly single: boolean;
}

interface Facts {
  model: SimModel;
  sim: SimInstruction;
  stream: boolean;
  text: string;
  called: readonly Tool[];
  /** A schema that the answer's JSON must fit; undefined for prose. */
  json: unknown;
  thinking: boolean;
  limit: number | undefined;
  choices: number;
  usageChunk: boolean;
}

/** @throws Refusal for a body of `POST /v1/chat/completions` that is not understood. */
export function planOpenai(body: JsonObject): SimCall {
  const model = readModel(body);
  const sim = readInstruction(body);
  const messages = readMessages(body);
  const limit = readCount(body, 'max_completion_tokens', 1) ?? readCount(body, 'max_tokens', 1);
  const tools = readTools(body, (entry) => {
    const { function: made } = entry;
    return isObject(made) && typeof made['name'] === 'string'
      ? { name: made['name'], schema: made['parameters'] }
      : undefined;
  });
  const options = body['stream_options'];
  const format = isObject(body['response_format']) ? body['response_format'] : {};
  const choice = body['tool_choice'];
  const named = isObject(choice) && isObject(choice['function']) ? choice['function']['name'] : undefined;
  return plan({
    model,
    sim,
    stream: body['stream'] === true,
    text: messages.map((message) => textOf(message['content'])).join(''),
    called: calledTools(
      {
        tools,
        choice: isObject(choice)
          ? { name: named }
          : choice === 'required'
            ? 'any'
            : choice === 'none'
              ? 'none'
              : 'auto',
        single: body['parallel_tool_calls'] === false,
      },
      messages,
    ),
    json:
      format['type'] === 'json_object'
        ? {}
        : isObject(format['json_schema'])
          ? format['json_schema']['schema']
          : undefined,
    thinking: false,
    limit,
    choices: readCount(body, 'n', 1, 128) ?? 1,
    usageChunk: isObject(options) && options['include_usage'] === true,
  });
}

/** @throws Refusal for a body of `POST /v1/messages` that is not understood. `counting`: no limit is needed. */
export function planAnthropic(body: JsonObject, counting = false): SimCall {
  const model = readModel(body);
  const sim = readInstruction(body);
  const messages = readMessages(body);
  const limit = readCount(body, 'max_tokens', 1);
  if (limit === undefined && !counting) throw new Refusal(400, 'max_tokens: Field required');
  const tools = readTools(body, (entry) =>
    typeof entry['name'] === 'string' ? { name: entry['name'], schema: entry['input_schema'] } : undefined,
  );
  const choice = isObject(body['tool_choice']) ? body['tool_choice'] : {};
  const kind = choice['type'];
  const config = isObject(body['output_config']) ? body['output_config'] : {};
  const text = textOf(body['system']) + messages.map((message) => textOf(message['content'])).join('');
  return plan({
    model,
    sim,
    stream: body['stream'] === true,
    text,
    called: calledTools(
      {
        tools,
        choice: kind === 'tool' ? { name: choice['name'] } : kind === 'any' || kind === 'none' ? kind : 'auto',
        single: choice['disable_parallel_tool_use'] === true,
      },
      messages,
    ),
    json: isObject(config['format']) ? config['format']['schema'] : undefined,
    thinking: isObject(body['thinking']) && body['thinking']['type'] === 'enabled',
    limit,
    choices: 1,
    usageChunk: true,
  });
}

/**
 * One tool where the last thing said speaks of a tool, all of them where it speaks of tools; none right after their
 * results.
 */
function calledTools({ tools, choice, single }: ToolWish, messages: JsonObject[]): readonly Tool[] {
  const { lastText, answersTools } = readHistory(messages);
  const [first] = tools;
  if (first === undefined || choice === 'none') return [];
  if (typeof choice === 'object') return [findTool(tools, choice.name)];
  const all = !single && /\btools\b/i.test(lastText);
  if (choice === 'any') return all ? tools : [first];
  if (answersTools) return [];
  return all ? tools : /\btools?\b/i.test(lastText) ? [first] : [];
}

function readTools(body: JsonObject, read: (entry: JsonObject) => Tool | undefined): Tool[] {
  const { tools } = body;
  if (tools === undefined || tools === null) return [];
  if (!Array.isArray(tools)) throw new Refusal(400, 'tools must be a list');
  return tools.map((entry: unknown) => {
    const tool = isObject(entry) ? read(entry) : undefined;
    if (tool === undefined) throw new Refusal(400, 'every tool must have a name');
    return tool;
  });
}

function findTool(tools: readonly Tool[], name: unknown): Tool {
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) throw new Refusal(400, 'tool_choice names a tool that tools does not hold');
  return tool;
}

function plan({ model, sim, stream, text, called, json, thinking, limit, choices, usageChunk }: Facts): SimCall {
  const seed = hashOf(`${model}\n${called.map((tool) => tool.name).join()}\n${text}`);
  const wanted = wantedTokens(sim);
  const calls: ToolCall[] = [];
  let fragments: string[] | undefined = json === undefined ? undefined : fragmentsOf(jsonFor(json, seed), wanted);
  for (const tool of called) {
    fragments = calls.length === 0 ? [] : (fragments ?? []);
    calls.push({ name: tool.name, from: fragments.length });
    fragments.push(...fragmentsOf(argumentsFor(tool.schema, seed), wanted));
  }
  const size = fragments?.length ?? wanted;
  const cut = limit !== undefined && limit < size;
  const pieces =
    fragments === undefined ? wordsFor(seed, cut ? limit : size) : cut ? fragments.slice(0, limit) : fragments;
  const inputTokens = countTokens(text);
  return {
    model,
    stream,
    inputTokens,
    cachedTokens: Math.min(sim.cached_tokens ?? 0, inputTokens),
    pieces,
    calls: calls.filter((call) => call.from < pieces.length),
    thinking: thinking ? THOUGHT : undefined,
    end: cut ? 'length' : calls.length === 0 ? 'stop' : 'tool',
    finishReason: sim.finish_reason,
    choices,
    ...speedOf(model, sim),
    omitUsage: sim.omit_usage ?? false,
    fail: sim.fail,
    saidUsage: sim.usage,
    usageChunk,
    hash: seed.toString(16).padStart(8, '0'),
  };
}
