import { asObject } from '../../token-count.ts';
import { asArray, asText, type Carrier, isUnset, type Json } from '../carrier.ts';
import { mediaTypeOf } from '../data-url.ts';

/** `cache_control` is a hint: OpenAI caches prompts by itself. `citations` of a text are a provider's own words. */
const TEXT = new Set(['type', 'text', 'cache_control', 'citations']);
const IMAGE = new Set(['type', 'source', 'cache_control']);
const DOCUMENT = new Set(['type', 'source', 'title', 'context', 'citations', 'cache_control']);
const SEARCH_RESULT = new Set(['type', 'source', 'title', 'content', 'citations', 'cache_control']);

/** A content's blocks; a text is one block. */
export function blocksOf(content: unknown, path: string, carrier: Carrier): readonly Json[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const blocks = asArray(content);
  if (blocks === undefined) carrier.invalid(path, 'must be a string or an array of content blocks');
  return (blocks ?? []).map((block) => asObject(block) ?? {});
}

/** A block of a user, or of a tool's result, as parts of a user's message; none where it cannot be carried. */
export function partsOf(block: Json, path: string, carrier: Carrier): readonly Json[] {
  switch (block.type) {
    case 'text':
      carrier.onlyKnown(block, TEXT, path);
      return [textPart(asText(block.text) ?? '')];
    case 'image':
      carrier.onlyKnown(block, IMAGE, path);
      return imagePart(asObject(block.source), path, carrier);
    case 'document':
      carrier.onlyKnown(block, DOCUMENT, path);
      return documentParts(block, path, carrier);
    case 'search_result':
      carrier.onlyKnown(block, SEARCH_RESULT, path);
      refuseCitations(block, path, carrier);
      return [
        textPart([asText(block.title), asText(block.source)].filter(Boolean).join('\n')),
        ...blocksOf(block.content, `${path}.content`, carrier).flatMap((inner, i) =>
          partsOf(inner, `${path}.content[${i}]`, carrier),
        ),
      ];
    default:
      refuseBlock(block, path, carrier);
      return [];
  }
}

/** A part of text. */
export function textPart(text: string): Json {
  return { type: 'text', text };
}

/** Text alone: a string, or parts of text; one part becomes a string. */
export function textContent(content: unknown, path: string, carrier: Carrier): string | readonly Json[] {
  const parts = blocksOf(content, path, carrier).flatMap((block, i) => {
    if (block.type === 'text') return partsOf(block, `${path}[${i}]`, carrier);
    carrier.refuse(`${path}[${i}].type`, 'only text can stand here');
    return [];
  });
  return plain(parts);
}

/** One part of text becomes a string. */
export function plain(parts: readonly Json[]): string | readonly Json[] {
  const [first] = parts;
  if (first === undefined) return '';
  return parts.length === 1 && first.type === 'text' ? (asText(first.text) ?? '') : parts;
}

function imagePart(source: Json | undefined, path: string, carrier: Carrier): readonly Json[] {
  if (source?.type === 'base64') return [{ type: 'image_url', image_url: { url: dataUrl(source) } }];
  if (source?.type === 'url') return [{ type: 'image_url', image_url: { url: source.url } }];
  carrier.refuse(`${path}.source.type`, 'an image is given as base64 or as a URL');
  return [];
}

function documentParts(block: Json, path: string, carrier: Carrier): readonly Json[] {
  refuseCitations(block, path, carrier);
  const source = asObject(block.source) ?? {};
  const title = asText(block.title) ?? '';
  const about = [asText(block.context) ?? ''].filter((text) => text !== '').map(textPart);
  switch (source.type) {
    case 'base64':
      return [...about, { type: 'file', file: { filename: title || 'document.pdf', file_data: dataUrl(source) } }];
    case 'text':
      return [...about, textPart([title, asText(source.data) ?? ''].filter((text) => text !== '').join('\n'))];
    case 'content':
      return [
        ...about,
        ...blocksOf(source.content, `${path}.source.content`, carrier).flatMap((inner, i) =>
          partsOf(inner, `${path}.source.content[${i}]`, carrier),
        ),
      ];
    default:
      carrier.refuse(`${path}.source.type`, 'a document is given as base64 or as text');
      return [];
  }
}

function refuseCitations({ citations }: Json, path: string, carrier: Carrier): void {
  if (asObject(citations)?.enabled === true) carrier.refuse(`${path}.citations`, 'it does not cite');
}

function dataUrl({ media_type, data }: Json): string {
  return `data:${mediaTypeOf(asText(media_type) ?? '')};base64,${asText(data) ?? ''}`;
}

function refuseBlock(block: Json, path: string, carrier: Carrier): void {
  const type = isUnset(block.type) ? undefined : String(block.type).slice(0, 40);
  carrier.refuse(`${path}.type`, type === undefined ? undefined : `'${type}' has no counterpart`);
}
