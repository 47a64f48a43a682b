import { asObject } from '../../token-count.ts';
import { asArray, asText, type Carrier, isUnset, type Json } from '../carrier.ts';
import { parseDataUrl } from '../data-url.ts';

const TEXT_PART = new Set(['type', 'text', 'cache_control', 'prompt_cache_breakpoint', 'annotations']);
const IMAGE_PART = new Set(['type', 'image_url', 'cache_control', 'prompt_cache_breakpoint']);
const FILE_PART = new Set(['type', 'file', 'cache_control', 'prompt_cache_breakpoint']);
const FILE = new Set(['filename', 'file_data']);

/** What may stand in a content. */
export interface Allowed {
  /** Images and files too, as a user gives them; else text alone. */
  readonly media: boolean;
  /** What is not known was put there by a provider and is left out: an answer's own content in the conversation. */
  readonly ofAnswer: boolean;
}

/** A content as blocks. Texts without words are left out, because Anthropic refuses them. */
export function contentBlocks(content: unknown, path: string, carrier: Carrier, allowed: Allowed): Json[] {
  if (typeof content === 'string') return isBlank(content) ? [] : [{ type: 'text', text: content }];
  const parts = asArray(content);
  if (parts === undefined) {
    carrier.invalid(path, 'must be a string or an array of parts');
    return [];
  }
  return parts.flatMap((item, i) => {
    const part = asObject(item) ?? {};
    const block = blockOf(part, `${path}[${i}]`, carrier, allowed);
    if (block === undefined) return [];
    const cache = cacheOf(part);
    return [cache === undefined ? block : { ...block, cache_control: cache }];
  });
}

/** A mark of Anthropic's own, or OpenAI's for the end of what is to be kept. */
function cacheOf({ cache_control, prompt_cache_breakpoint }: Json): unknown {
  if (!isUnset(cache_control)) return cache_control;
  return isUnset(prompt_cache_breakpoint) ? undefined : { type: 'ephemeral' };
}

/** True for a text that Anthropic takes for no text. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}

function blockOf(part: Json, path: string, carrier: Carrier, { media, ofAnswer }: Allowed): Json | undefined {
  switch (part.type) {
    case 'text':
    case 'refusal':
      if (!ofAnswer) carrier.onlyKnown(part, TEXT_PART, path);
      return textBlock(part.text ?? part.refusal);
    case 'image_url':
      if (media) return imageBlock(part, path, carrier);
      break;
    case 'file':
      if (media) return fileBlock(part, path, carrier);
  }
  if (!ofAnswer)
    carrier.refuse(
      `${path}.type`,
      !media
        ? 'only text can stand here'
        : typeof part.type === 'string'
          ? `'${part.type.slice(0, 40)}' has no counterpart`
          : undefined,
    );
  return undefined;
}

function textBlock(value: unknown): Json | undefined {
  const text = asText(value) ?? '';
  return isBlank(text) ? undefined : { type: 'text', text };
}

/** A data URL as its bytes, an https URL as it is. */
function imageBlock(part: Json, path: string, carrier: Carrier): Json | undefined {
  carrier.onlyKnown(part, IMAGE_PART, path);
  const image = asObject(part.image_url);
  const url = asText(image?.url);
  const urlPath = `${path}.image_url.url`;
  if (image === undefined || url === undefined) {
    carrier.invalid(urlPath, 'must be a URL');
    return undefined;
  }
  if (!isUnset(image.detail) && image.detail !== 'auto')
    carrier.refuse(`${path}.image_url.detail`, 'the resolution is chosen by the model');
  if (url.startsWith('https://')) return { type: 'image', source: { type: 'url', url } };
  const data = parseDataUrl(url);
  if (data !== undefined)
    return { type: 'image', source: { type: 'base64', media_type: data.mediaType, data: data.data } };
  carrier.refuse(urlPath, 'an image is a data URL with base64 or an https URL');
  return undefined;
}

/** A file in its bytes as a document; one that was uploaded is known to OpenAI alone. */
function fileBlock(part: Json, path: string, carrier: Carrier): Json | undefined {
  carrier.onlyKnown(part, FILE_PART, path);
  const file = asObject(part.file) ?? {};
  const data = parseDataUrl(asText(file.file_data) ?? '');
  if (data === undefined) {
    carrier.refuse(`${path}.file`, 'a file is given as a data URL with base64 in file_data');
    return undefined;
  }
  carrier.onlyKnown(file, FILE, `${path}.file`);
  const title = asText(file.filename);
  const named = title === undefined || title === '' ? {} : { title };
  if (data.mediaType === 'application/pdf')
    return { type: 'document', source: { type: 'base64', media_type: data.mediaType, data: data.data }, ...named };
  if (data.mediaType === 'text/plain')
    return {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: Buffer.from(data.data, 'base64').toString() },
      ...named,
    };
  carrier.refuse(`${path}.file.file_data`, 'a document is a PDF or plain text');
  return undefined;
}
