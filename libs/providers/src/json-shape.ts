const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;

/** How deep objects and arrays may stand in one another. Schemas of tools, the deepest that is sent, stay below 20. */
export const MAX_JSON_DEPTH = 200;
/** Values that a text may hold, a named one counting {@link PARTS_OF_A_NAME}. */
export const MAX_JSON_PARTS = 500_000;
/** What a value with a name counts. */
export const PARTS_OF_A_NAME = 5;
/** A text of so many characters is parsed in microseconds whatever it holds. */
const ALWAYS_CHEAP = 400;

/**
 * What makes a JSON text dearer to parse than its size: `JSON.parse` takes 6 s for 10 MB of brackets in one another
 * and .8 s for 900,000 names, where it takes .04 s for as much text, and nothing else runs meanwhile. Within both
 * bounds it takes about .1 s at most.
 *
 * @param json any text; strings are passed over as JSON has them. Looked at once, and not built.
 */
export function jsonFault(json: string): 'too_deep' | 'too_many_parts' | undefined {
  let depth = 0;
  let parts = 0;
  for (let i = 0; i < json.length; i += 1) {
    switch (json.charCodeAt(i)) {
      case QUOTE:
        i = stringEnd(json, i);
        break;
      case COMMA:
        parts += 1;
        break;
      case COLON:
        parts += PARTS_OF_A_NAME - 1;
        break;
      case 0x7b: // {
      case 0x5b: // [
        depth += 1;
        parts += 1;
        if (depth > MAX_JSON_DEPTH) return 'too_deep';
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth -= 1;
        break;
    }
  }
  return parts > MAX_JSON_PARTS ? 'too_many_parts' : undefined;
}

/** A text as JSON; undefined when it is none, or would hold the process up for longer than its size. */
export function parseText(text: string): unknown {
  try {
    return text.length <= ALWAYS_CHEAP || jsonFault(text) === undefined ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Index of the closing quote of the string that opens at `start`; the text's length where it never closes. Walked
 * character by character: a search for the next quote would begin anew at each `\\"`.
 */
export function stringEnd(json: string, start: number): number {
  const { length } = json;
  let i = start + 1;
  while (i < length) {
    const code = json.charCodeAt(i);
    if (code === QUOTE) return i;
    i += code === BACKSLASH ? 2 : 1;
  }
  return length;
}
