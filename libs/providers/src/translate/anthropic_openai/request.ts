import type { InboundCall, Refusal } from '@sluice/contracts';
import { asObject } from '../../token-count.ts';
import { asArray, asText, type Carriage, Carrier, isUnset, type Json } from '../carrier.ts';
import { boundedUser } from '../end-user.ts';
import { carriedFields } from '../translation-cache.ts';
import { translateMessages } from './messages.ts';
import { translateToolChoice, translateTools } from './tools.ts';

/** A message request in OpenAI's words, but for the model. */
export interface ChatRequest {
  readonly fields: Json;
  /** Paths of what was left out. */
  readonly dropped: readonly string[];
}

/** Fields that are translated, or that change nothing about an answer (hints about caching and accounting). */
const KNOWN = new Set([
  'model',
  'messages',
  'system',
  'stream',
  'max_tokens',
  'temperature',
  'top_p',
  'stop_sequences',
  'tools',
  'tool_choice',
  'metadata',
  'thinking',
  'output_config',
  'service_tier',
  'cache_control',
  'context_management',
  'thread',
  'x-sluice-tenant',
]);
/** Left out, a `continue` would lose the conversation that the provider holds, so no policy drops a thread. */
const NO_THREADS = 'it holds no conversations; send the full conversation without it';
/** By this word the official SDK sends the full conversation (`unsupportedRequestBehavior: 'continue_unthreaded'`). */
const UNTHREADED = { error_code: 'thread_unsupported_request' };
const METADATA = new Set(['user_id']);
const OUTPUT_CONFIG = new Set(['effort', 'format']);
const EFFORTS = new Set(['low', 'medium', 'high', 'xhigh', 'max']);
/** The longest id of an end user that OpenAI takes. */
const MAX_USER_CHARS = 64;
/** As many as OpenAI takes. */
const MAX_STOP_SEQUENCES = 4;
/** Thinking budgets up to these are little and middling effort. */
const LOW_BUDGET = 4_096;
const MEDIUM_BUDGET = 16_384;

/** An Anthropic message request as a chat completion request, or why it cannot be one. */
export function toChatRequest(
  { body, bytes }: Pick<InboundCall, 'body' | 'bytes'>,
  { carryFields, drops }: Carriage,
): ChatRequest | Refusal {
  const carrier = new Carrier('openai', drops);
  if (!isUnset(body.thread) && !carryFields.includes('thread')) carrier.cannot('thread', NO_THREADS, UNTHREADED);
  carrier.onlyKnown(body, KNOWN, '', carryFields);
  if (!isNeutralContext(body.context_management)) carrier.refuse('context_management');
  const fields: Record<string, unknown> = { messages: translateMessages(body, bytes, carrier) };
  if (body.stream === true) Object.assign(fields, { stream: true, stream_options: { include_usage: true } });
  if (typeof body.max_tokens === 'number') fields.max_completion_tokens = body.max_tokens;
  if (typeof body.temperature === 'number') fields.temperature = body.temperature;
  if (typeof body.top_p === 'number') fields.top_p = body.top_p;

  const stop = asArray(body.stop_sequences);
  if (stop !== undefined && stop.length > MAX_STOP_SEQUENCES)
    carrier.refuse('stop_sequences', `it takes at most ${MAX_STOP_SEQUENCES}`);
  if (stop !== undefined && stop.length > 0) fields.stop = stop.slice(0, MAX_STOP_SEQUENCES);

  const metadata = asObject(body.metadata);
  if (metadata !== undefined) carrier.onlyKnown(metadata, METADATA, 'metadata');
  const user = asText(metadata?.user_id);
  if (user !== undefined && user !== '') fields.user = boundedUser(user, MAX_USER_CHARS);
  if (body.service_tier === 'standard_only') fields.service_tier = 'default';

  const tools = translateTools(body.tools, carrier);
  if (tools !== undefined) fields.tools = tools;
  Object.assign(fields, translateToolChoice(body.tool_choice, body.tools, tools !== undefined, carrier));
  answerFormat(body, fields, carrier);
  Object.assign(fields, carriedFields(body, carryFields));
  return carrier.refusal ?? { fields, dropped: carrier.dropped };
}

/** What only takes thoughts out of the context changes nothing where thoughts are not carried. */
function isNeutralContext(value: unknown): boolean {
  if (isUnset(value)) return true;
  const edits = asArray(asObject(value)?.edits ?? []);
  return edits !== undefined && edits.every((edit) => /^clear_thinking_/.test(asText(asObject(edit)?.type) ?? ''));
}

function answerFormat(body: Json, fields: Record<string, unknown>, carrier: Carrier): void {
  const config = asObject(body.output_config) ?? {};
  carrier.onlyKnown(config, OUTPUT_CONFIG, 'output_config');
  const format = asObject(config.format);
  if (format !== undefined) {
    const schema = asObject(format.schema);
    if (format.type !== 'json_schema' || schema === undefined) carrier.refuse('output_config.format');
    else fields.response_format = { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } };
  }
  const effort = effortOf(body.thinking, config.effort, carrier);
  if (effort !== undefined) fields.reasoning_effort = effort;
}

/** How hard to think: the effort that was named, or the one that a budget stands for. */
function effortOf(thinking: unknown, effort: unknown, carrier: Carrier): string | undefined {
  const given = asText(effort);
  const named = given !== undefined && EFFORTS.has(given) ? given : undefined;
  if (given !== named) carrier.refuse('output_config.effort');
  const config = asObject(thinking);
  if (config === undefined || config.type === 'disabled' || config.type === 'adaptive') return named;
  if (config.type !== 'enabled') {
    carrier.refuse('thinking.type');
    return undefined;
  }
  if (named !== undefined) return named;
  const budget = isUnset(config.budget_tokens) ? 0 : Number(config.budget_tokens);
  return budget <= LOW_BUDGET ? 'low' : budget <= MEDIUM_BUDGET ? 'medium' : 'high';
}
