import type { BodyPayloads } from '@sluice/contracts';

type Json = Readonly<Record<string, unknown>>;

/** Parts stand in contents, contents in messages, and results of tools have contents again. */
const MAX_DEPTH = 8;
const DATA_URL = 'data:';

/** A body without any. */
export const NO_PAYLOADS: BodyPayloads = { images: 0, imageBytes: 0, bytes: 0 };

/**
 * The images, audio and files of a body: the base64 of the parts of messages or input items that both dialects have
 * for them. What stands anywhere else is text, whatever it looks like.
 */
export function payloadsIn({ messages, input }: Json): BodyPayloads {
  const found = { images: 0, imageBytes: 0, bytes: 0 };
  lookInto(messages, MAX_DEPTH, found);
  lookInto(input, MAX_DEPTH, found);
  return found;
}

type Found = { -readonly [Key in keyof BodyPayloads]: BodyPayloads[Key] };

function lookInto(value: unknown, depth: number, found: Found): void {
  if (typeof value !== 'object' || value === null || depth === 0) return;
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) lookInto(item, depth - 1, found);
    return;
  }
  const part = value as Json;
  switch (part.type) {
    case 'image_url':
      image(dataUrlLength(memberOf(part.image_url, 'url')), found);
      return;
    case 'input_image':
      image(dataUrlLength(part.image_url), found);
      return;
    case 'image':
      image(base64Length(part.source), found);
      return;
    case 'document':
      found.bytes += base64Length(part.source);
      return;
    case 'input_audio':
      found.bytes += textOf(memberOf(part.input_audio, 'data'));
      return;
    case 'file':
      found.bytes += textOf(memberOf(part.file, 'file_data'));
      return;
    case 'input_file':
      found.bytes += textOf(part.file_data);
      return;
    default:
      lookInto(part.content, depth - 1, found);
  }
}

function image(bytes: number, found: Found): void {
  found.images += 1;
  found.imageBytes += bytes;
  found.bytes += bytes;
}

function base64Length(source: unknown): number {
  return memberOf(source, 'type') === 'base64' ? textOf(memberOf(source, 'data')) : 0;
}

function dataUrlLength(url: unknown): number {
  return typeof url === 'string' && url.startsWith(DATA_URL) ? url.length : 0;
}

function textOf(value: unknown): number {
  return typeof value === 'string' ? value.length : 0;
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Json)[key] : undefined;
}
