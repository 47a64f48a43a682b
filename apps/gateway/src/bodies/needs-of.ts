import type { ModelAbility } from '@sluice/contracts';
import { promptParts } from '@sluice/routing';

type Body = Readonly<Record<string, unknown>>;

const JSON_FORMATS: ReadonlySet<unknown> = new Set(['json_object', 'json_schema']);

/** What a model must be able to do to answer this body, in either dialect, beside to chat. */
export function needsOf(body: Body): ModelAbility[] {
  const needs: ModelAbility[] = [];
  const parts = promptParts(body.messages, body.input);
  if (isFilled(body.tools) || isFilled(body.functions)) needs.push('tools');
  if (parts.images) needs.push('images');
  if (parts.audio || (Array.isArray(body.modalities) && body.modalities.includes('audio'))) needs.push('audio');
  const { format } = (body.text ?? {}) as { format?: unknown };
  if (JSON_FORMATS.has(typeOf(body.response_format)) || JSON_FORMATS.has(typeOf(format))) needs.push('json');
  if (asksToReason(body)) needs.push('reasoning');
  return needs;
}

function asksToReason({ reasoning_effort: effort, reasoning, thinking }: Body): boolean {
  const asked = effort ?? (reasoning as { effort?: unknown } | null | undefined)?.effort;
  const type = typeOf(thinking);
  return (typeof asked === 'string' && asked !== 'none') || type === 'enabled' || type === 'adaptive';
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function typeOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? (value as { type?: unknown }).type : undefined;
}
