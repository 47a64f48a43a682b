import type { ModelAbility } from '@sluice/contracts';

type Body = Readonly<Record<string, unknown>>;

/** Parts stand in contents, contents in messages, and results of tools have contents again. */
const MAX_DEPTH = 6;
const IMAGE_PARTS: ReadonlySet<unknown> = new Set(['image', 'image_url', 'input_image']);
const AUDIO_PARTS: ReadonlySet<unknown> = new Set(['audio', 'input_audio']);
const JSON_FORMATS: ReadonlySet<unknown> = new Set(['json_object', 'json_schema']);

/** What a model must be able to do to answer this body, in either dialect, beside to chat. */
export function needsOf(body: Body): ModelAbility[] {
  const needs: ModelAbility[] = [];
  const parts = { images: false, audio: false };
  lookInto(body.messages, MAX_DEPTH, parts);
  lookInto(body.input, MAX_DEPTH, parts);
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

function lookInto(value: unknown, depth: number, found: { images: boolean; audio: boolean }): void {
  if (typeof value !== 'object' || value === null || depth === 0) return;
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) lookInto(item, depth - 1, found);
    return;
  }
  const type = typeOf(value);
  if (IMAGE_PARTS.has(type)) found.images = true;
  else if (AUDIO_PARTS.has(type)) found.audio = true;
  else lookInto((value as { content?: unknown }).content, depth - 1, found);
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function typeOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? (value as { type?: unknown }).type : undefined;
}
