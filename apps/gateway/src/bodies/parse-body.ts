import { isUtf8 } from 'node:buffer';
import type { ObjectIndex, Refusal } from '@sluice/contracts';
import { MAX_JSON_DEPTH, MAX_JSON_PARTS, scanObject } from '@sluice/providers/bodies';

/**
 * Fields that decide about model, price, limits or output, and those that are replaced on the way; two parsers must
 * not disagree about them.
 */
export const WATCHED_KEYS: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'n',
  'user',
  'messages',
  'tools',
  'metadata',
  'stream_options',
  'input',
  'sim',
  'x-sluice-tenant',
]);

export interface ParsedBody {
  readonly json: Readonly<Record<string, unknown>>;
  readonly index: ObjectIndex;
  /** Its length if no character were written as `\uXXXX` but as two bytes. */
  readonly weighedBytes: number;
}

/**
 * Reads a request's body: one walk over its bytes, which bounds what parsing costs and finds the members that are
 * replaced later, then the parser. Takes as long as the body is large, so a large one is not read on the event loop.
 */
export function parseBody(body: Buffer): ParsedBody | Refusal {
  if (body.length === 0) return { code: 'invalid_json', message: 'The request body is empty; send a JSON object.' };
  if (!isUtf8(body)) return { code: 'invalid_json', message: 'The request body is not valid UTF-8.' };
  const { fault, twice, index, escapes } = scanObject(body, WATCHED_KEYS);
  if (fault === 'too_deep')
    return {
      code: 'invalid_json',
      message: `The request body nests objects and arrays more than ${MAX_JSON_DEPTH} deep.`,
    };
  if (fault === 'too_many_parts')
    return {
      code: 'body_too_large',
      message: `The request body holds more than ${MAX_JSON_PARTS.toLocaleString('en-US')} values, of which one with a name counts as five; send text instead of lists, or less of them.`,
    };
  let json: unknown;
  try {
    json = JSON.parse(body.toString('utf8'));
  } catch (error) {
    return { code: 'invalid_json', message: `The request body is not valid JSON${position(error)}.` };
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    return { code: 'invalid_json', message: 'The request body must be a JSON object.' };
  }
  if (twice !== undefined)
    return { code: 'duplicate_key', param: twice, message: `The request body names '${twice}' twice; name it once.` };
  return { json: json as Record<string, unknown>, index, weighedBytes: body.length - ESCAPE_SURPLUS * escapes };
}

/** `\uXXXX` takes six bytes for what are mostly two in UTF-8. */
const ESCAPE_SURPLUS = 4;

/** True for a refusal among the results of `parseBody`. */
export function isBodyRefusal(value: ParsedBody | Refusal): value is Refusal {
  return 'code' in value;
}

/** Where the parser stopped. Its text is not passed on: it quotes the body. */
function position(error: unknown): string {
  const match = error instanceof Error ? /position (\d+)/.exec(error.message) : null;
  return match === null ? ' (it ends too early, perhaps)' : ` (at byte ${match[1]}, about)`;
}
