import { SIM_DEFAULT_OUTPUT_TOKENS, SIM_MODELS, SimInstruction } from '@sluice/contracts';

export type JsonObject = Record<string, unknown>;
export type SimModel = keyof typeof SIM_MODELS;

/** A tool that is called; its arguments begin at this piece. */
export interface ToolCall {
  readonly name: string;
  readonly from: number;
}

/** What a provider will do for one request; a pure function of the body. */
export interface SimCall {
  readonly model: SimModel;
  readonly stream: boolean;
  /** Input tokens, cached ones included. */
  readonly inputTokens: number;
  /** Of `inputTokens`; never more than them. */
  readonly cachedTokens: number;
  /** One output token each. With several choices, every choice holds the same ones. */
  readonly pieces: readonly string[];
  /** The tools that `pieces` are the argument JSON of, in order; empty for text. */
  readonly calls: readonly ToolCall[];
  /** Said in a block of its own before the answer, signed, and not counted; Anthropic dialect only. */
  readonly thinking: string | undefined;
  readonly end: 'stop' | 'length' | 'tool';
  /** Replaces the dialect's own word for `end`. */
  readonly finishReason: string | undefined;
  readonly choices: number;
  readonly ttftMs: number;
  readonly chunkMs: number;
  readonly omitUsage: boolean;
  /** Answered in the place of everything else. */
  readonly fail: SimInstruction['fail'];
  /** What the answer says of its tokens where that is not the truth. */
  readonly saidUsage: SimInstruction['usage'];
  /** OpenAI streams: whether a usage chunk was asked for. */
  readonly usageChunk: boolean;
  /** Stable for equal requests; 8 hex digits. */
  readonly hash: string;
}

/** A request that the provider refuses. */
export class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @throws Refusal 404 when no such model is simulated. */
export function readModel(body: JsonObject): SimModel {
  const { model } = body;
  if (typeof model !== 'string') throw new Refusal(400, 'model must be a string');
  if (!Object.hasOwn(SIM_MODELS, model))
    throw new Refusal(404, `The model ${JSON.stringify(model.slice(0, 80))} does not exist`);
  return model as SimModel;
}

/** @throws Refusal 400 that names the wrong field. */
export function readInstruction(body: JsonObject): SimInstruction {
  if (body['sim'] === undefined) return {};
  const parsed = SimInstruction.safeParse(body['sim']);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new Refusal(400, `${['sim', ...(issue?.path ?? [])].join('.')}: ${issue?.message ?? 'is not valid'}`);
}

/** @throws Refusal 400 when present and not a whole number of at least `min`. */
export function readCount(
  body: JsonObject,
  name: string,
  min: number,
  max = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Refusal(
    400,
    `${name} must be a whole number of at least ${min}${max < Number.MAX_SAFE_INTEGER ? ` and at most ${max}` : ''}`,
  );
}

/** @throws Refusal 400 when `messages` is not a list of at least one message. */
export function readMessages(body: JsonObject): JsonObject[] {
  const { messages } = body;
  if (!Array.isArray(messages) || messages.length === 0)
    throw new Refusal(400, 'messages must hold at least one message');
  for (const message of messages)
    if (!isObject(message) || typeof message['role'] !== 'string')
      throw new Refusal(400, 'every message must have a role');
  return messages as JsonObject[];
}

/** The text in a message's content: a string, or the `text` (and nested `content`) of its parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  let text = '';
  for (const part of content) {
    if (!isObject(part)) continue;
    text += typeof part['text'] === 'string' ? part['text'] : textOf(part['content']);
  }
  return text;
}

/** The rule of thumb that the simulator takes for a tokenizer: a quarter of the UTF-16 code units, rounded up. */
export function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** FNV-1a, 32 bits (Fowler, Noll, Vo). */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

export function speedOf(model: SimModel, sim: SimInstruction): { ttftMs: number; chunkMs: number } {
  const speed = SIM_MODELS[model];
  return { ttftMs: sim.ttft_ms ?? speed.ttftMs, chunkMs: sim.chunk_ms ?? speed.chunkMs };
}

export function wantedTokens(sim: SimInstruction): number {
  return sim.output_tokens ?? SIM_DEFAULT_OUTPUT_TOKENS;
}
