import type { InboundCall, Refusal } from '@sluice/contracts';
import { asObject } from '../../token-count.ts';
import { asText, type Carriage, Carrier, isUnset, type Json } from '../carrier.ts';
import { boundedUser } from '../end-user.ts';
import { carriedFields } from '../translation-cache.ts';
import { limitCacheMarks } from './cache-marks.ts';
import { translateMessages } from './messages.ts';
import { JSON_TOOL, jsonTool, translateToolChoice, translateTools } from './tools.ts';

/** A chat completion request in Anthropic's words, but for what depends on the model that serves it. */
export interface AnthropicRequest {
  /** Everything but `model`, `max_tokens` and `thinking`. */
  readonly fields: Json;
  /** The caller's bound; undefined when it set none, and then the model's own is sent, because one is required. */
  readonly maxTokens: number | undefined;
  /** Tokens to think with, by the effort that was asked for; undefined for none. */
  readonly thinkingTokens: number | undefined;
  /** Paths of what was left out. */
  readonly dropped: readonly string[];
}

/** The longest id of an end user that Anthropic takes. */
const MAX_USER_CHARS = 256;

/** Least budget that Anthropic takes. */
export const MIN_THINKING_TOKENS = 1_024;
const THINKING_TOKENS: Readonly<Record<string, number>> = {
  minimal: MIN_THINKING_TOKENS,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: 65_536,
};

/** Fields that are translated, or that change nothing about an answer (hints about caching and accounting). */
const KNOWN = new Set([
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'stop',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'x-sluice-tenant',
]);
/** Values that mean what Anthropic does anyway. */
const NEUTRAL: Readonly<Record<string, (value: unknown) => boolean>> = {
  n: (value) => value === 1,
  frequency_penalty: (value) => value === 0,
  presence_penalty: (value) => value === 0,
  logprobs: (value) => value === false,
  store: (value) => value === false,
  logit_bias: (value) => isEmpty(value),
  metadata: (value) => isEmpty(value),
  modalities: (value) => Array.isArray(value) && value.length === 1 && value[0] === 'text',
  service_tier: (value) => value === 'auto' || value === 'default',
  verbosity: (value) => value === 'medium',
};

/** An OpenAI chat completion request as an Anthropic message request, or why it cannot be one. */
export function toAnthropicRequest(
  { body, bytes }: Pick<InboundCall, 'body' | 'bytes'>,
  { carryFields, drops }: Carriage,
): AnthropicRequest | Refusal {
  const carrier = new Carrier('anthropic', drops);
  const fields: Record<string, unknown> = {};
  refuseUnknown(body, carryFields, carrier);
  const { system, messages, hasToolCalls } = translateMessages(body.messages, bytes, carrier);
  if (system !== undefined) fields.system = system;
  fields.messages = messages;
  if (body.stream === true) fields.stream = true;
  const temperature = sampling(body, carrier);
  Object.assign(fields, temperature);
  const stop = stopSequences(body.stop, carrier);
  if (stop !== undefined) fields.stop_sequences = stop;
  const user = asText(body.safety_identifier) ?? asText(body.user);
  if (user !== undefined && user !== '') fields.metadata = { user_id: boundedUser(user, MAX_USER_CHARS) };

  const tools = translateTools(body.tools, carrier);
  const choice = translateToolChoice(
    body.tool_choice,
    body.parallel_tool_calls,
    body.tools,
    tools !== undefined,
    carrier,
  );
  if (tools !== undefined) fields.tools = tools;
  if (choice !== undefined) fields.tool_choice = choice;
  limitCacheMarks(fields, carrier);
  answerFormat(body, fields, carrier);

  const maxTokens = numberOf(body.max_completion_tokens) ?? numberOf(body.max_tokens);
  const thinkingTokens = thinking(body, fields, maxTokens, hasToolCalls, carrier);
  Object.assign(fields, carriedFields(body, carryFields));
  return carrier.refusal ?? { fields, maxTokens, thinkingTokens, dropped: carrier.dropped };
}

function refuseUnknown(body: Json, carryFields: readonly string[], carrier: Carrier): void {
  for (const key in body) {
    const value = body[key];
    if (isUnset(value) || KNOWN.has(key) || carryFields.includes(key)) continue;
    if (Object.hasOwn(NEUTRAL, key) && NEUTRAL[key]?.(value) === true) continue;
    carrier.refuse(key, key === 'n' ? 'it gives one choice for each request' : undefined);
  }
}

function sampling(body: Json, carrier: Carrier): Json {
  const fields: Record<string, number> = {};
  const temperature = numberOf(body.temperature);
  if (temperature !== undefined) {
    if (temperature > 1) carrier.refuse('temperature', 'it goes from 0 to 1 there');
    else fields.temperature = temperature;
  }
  const topP = numberOf(body.top_p);
  if (topP !== undefined) fields.top_p = topP;
  return fields;
}

function stopSequences(stop: unknown, carrier: Carrier): readonly string[] | undefined {
  if (isUnset(stop)) return undefined;
  const list = Array.isArray(stop) ? (stop as readonly unknown[]) : [stop];
  const sequences = list.filter((sequence): sequence is string => {
    if (typeof sequence !== 'string') carrier.invalid('stop', 'must be a string or an array of strings');
    else if (sequence.trim() === '') carrier.refuse('stop', 'a stop sequence needs more than white space');
    else return true;
    return false;
  });
  return sequences.length === 0 ? undefined : sequences;
}

/**
 * `json_schema` has a counterpart; JSON of any shape is asked for with a tool that the model must call, whose input
 * is the answer.
 */
function answerFormat(body: Json, fields: Record<string, unknown>, carrier: Carrier): void {
  const format = asObject(body.response_format);
  if (format === undefined || format.type === 'text') return;
  if (format.type === 'json_schema') {
    const schema = asObject(asObject(format.json_schema)?.schema);
    if (schema === undefined) carrier.invalid('response_format.json_schema.schema', 'must be a JSON schema');
    fields.output_config = { format: { type: 'json_schema', schema } };
    return;
  }
  if (format.type !== 'json_object') {
    carrier.refuse('response_format.type');
    return;
  }
  if (fields.tools !== undefined) {
    carrier.refuse(
      'response_format',
      'JSON of any shape cannot be combined with tools; give a schema (json_schema) instead',
    );
    return;
  }
  fields.tools = [jsonTool()];
  fields.tool_choice = { type: 'tool', name: JSON_TOOL, disable_parallel_tool_use: true };
}

/**
 * What Anthropic does not allow beside thinking is refused, rather than dropped. Beside calls of tools in the
 * conversation it wants the thoughts that led to them, which OpenAI's dialect does not have: the call goes without
 * thinking, and the caller is told.
 */
function thinking(
  body: Json,
  fields: Record<string, unknown>,
  maxTokens: number | undefined,
  hasToolCalls: boolean,
  carrier: Carrier,
): number | undefined {
  const effort = body.reasoning_effort;
  if (isUnset(effort) || effort === 'none') return undefined;
  if (hasToolCalls) {
    carrier.drop('reasoning_effort');
    return undefined;
  }
  const tokens =
    typeof effort === 'string' && Object.hasOwn(THINKING_TOKENS, effort) ? THINKING_TOKENS[effort] : undefined;
  const why = whyNoThinking(tokens, maxTokens, asObject(fields.tool_choice)?.type);
  if (why !== undefined) {
    carrier.refuse('reasoning_effort', why);
    return undefined;
  }
  if (numberOf(body.temperature) !== undefined && body.temperature !== 1) {
    carrier.refuse('temperature', 'with reasoning it must be 1');
    delete fields.temperature;
  }
  return tokens;
}

function whyNoThinking(tokens: number | undefined, maxTokens: number | undefined, forced: unknown): string | undefined {
  if (tokens === undefined) return 'the effort is not known';
  if (maxTokens !== undefined && maxTokens <= MIN_THINKING_TOKENS)
    return `thinking takes at least ${MIN_THINKING_TOKENS} tokens, and the request allows ${maxTokens} in all`;
  if (forced === 'any' || forced === 'tool')
    return 'thinking cannot be combined with a tool (or JSON) that must be given';
  return undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function isEmpty(value: unknown): boolean {
  const object = asObject(value);
  return object !== undefined && Object.keys(object).length === 0;
}
