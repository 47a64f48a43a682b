/** Parts stand in contents, contents in messages, and results of tools have contents again. */
const MAX_DEPTH = 6;
const IMAGE_PARTS: ReadonlySet<unknown> = new Set(['image', 'image_url', 'input_image']);
const AUDIO_PARTS: ReadonlySet<unknown> = new Set(['audio', 'input_audio']);

/** What messages hold beside text. */
export interface PromptParts {
  images: boolean;
  audio: boolean;
}

/** Looks through messages or input items of either dialect, whatever is in them, also inside results of tools. */
export function promptParts(...values: readonly unknown[]): PromptParts {
  const found = { images: false, audio: false };
  for (const value of values) lookInto(value, MAX_DEPTH, found);
  return found;
}

function lookInto(value: unknown, depth: number, found: PromptParts): void {
  if (typeof value !== 'object' || value === null || depth === 0) return;
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) lookInto(item, depth - 1, found);
    return;
  }
  const { type, content } = value as { type?: unknown; content?: unknown };
  if (IMAGE_PARTS.has(type)) found.images = true;
  else if (AUDIO_PARTS.has(type)) found.audio = true;
  else lookInto(content, depth - 1, found);
}
