import { type SimInstruction } from '@sluice/contracts';
import { argumentsFor, fragmentsOf, wordsFor } from './answer-text.ts';
import { countTokens, hashOf, isObject, readCount, readInstruction, readMessages, readModel, Refusal, speedOf, textOf, wantedTokens, type JsonObject, type SimCall, type SimModel } from './sim-call.ts';

interface Tool {
  readonly name: string;
  readonly schema: unknown;
}

interface Facts {
  model: SimModel;
  sim: SimInstruction;
  stream: boolean;
  text: string;
  tool: Tool | undefined;
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
    return isObject(made) && typeof made['name'] === 'string' ? { name: made['name'], schema: made['parameters'] } : undefined;
  });
  const options = body['stream_options'];
  return plan({
    model,
    sim,
    stream: body['stream'] === true,
    text: messages.map((message) => textOf(message['content'])).join(''),
    tool: chosenOpenaiTool(body['tool_choice'], tools, messages),
    limit,
    choices: readCount(body, 'n', 1, 128) ?? 1,
    usageChunk: isObject(options) && options['include_usage'] === true,
  });
}

function chosenOpenaiTool(choice: unknown, tools: Tool[], messages: JsonObject[]): Tool | undefined {
  if (tools.length === 0 || choice === 'none') return undefined;
  if (choice === 'required') return tools[0];
  if (isObject(choice)) {
    const named = isObject(choice['function']) ? choice['function']['name'] : undefined;
    return findTool(tools, named);
  }
  const lastUser = messages.findLast((message) => message['role'] === 'user');
  return /\btool\b/i.test(textOf(lastUser?.['content'])) ? tools[0] : undefined;
}

/** @throws Refusal for a body of `POST /v1/messages` that is not understood. `counting`: no limit is needed. */
export function planAnthropic(body: JsonObject, counting = false): SimCall {
  const model = readModel(body);
  const sim = readInstruction(body);
  const messages = readMessages(body);
  const limit = readCount(body, 'max_tokens', 1);
  if (limit === undefined && !counting) throw new Refusal(400, 'max_tokens: Field required');
  const tools = readTools(body, (entry) => (typeof entry['name'] === 'string' ? { name: entry['name'], schema: entry['input_schema'] } : undefined));
  const choice = isObject(body['tool_choice']) ? body['tool_choice'] : {};
  const tool = choice['type'] === 'any' ? tools[0] : choice['type'] === 'tool' ? findTool(tools, choice['name']) : undefined;
  const text = textOf(body['system']) + messages.map((message) => textOf(message['content'])).join('');
  return plan({ model, sim, stream: body['stream'] === true, text, tool, limit, choices: 1, usageChunk: true });
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

function findTool(tools: Tool[], name: unknown): Tool {
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) throw new Refusal(400, 'tool_choice names a tool that tools does not hold');
  return tool;
}

function plan({ model, sim, stream, text, tool, limit, choices, usageChunk }: Facts): SimCall {
  const seed = hashOf(`${model}\n${tool?.name ?? ''}\n${text}`);
  const wanted = wantedTokens(sim);
  const whole = tool === undefined ? undefined : fragmentsOf(argumentsFor(tool.schema, seed), wanted);
  const size = whole?.length ?? wanted;
  const cut = limit !== undefined && limit < size;
  const pieces = whole === undefined ? wordsFor(seed, cut ? limit : size) : cut ? whole.slice(0, limit) : whole;
  const inputTokens = countTokens(text);
  return {
    model,
    stream,
    inputTokens,
    cachedTokens: Math.min(sim.cached_tokens ?? 0, inputTokens),
    pieces,
    tool: tool?.name,
    end: cut ? 'length' : tool === undefined ? 'stop' : 'tool',
    finishReason: sim.finish_reason,
    choices,
    ...speedOf(model, sim),
    omitUsage: sim.omit_usage ?? false,
    usageChunk,
    hash: seed.toString(16).padStart(8, '0'),
  };
}
