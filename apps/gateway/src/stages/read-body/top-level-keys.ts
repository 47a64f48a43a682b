import { stringEnd } from '@sluice/providers';

const QUOTE = 0x22;

/**
 * The first watched field that stands twice at the top of a JSON object. `JSON.parse` keeps the last one in silence; a
 * provider's parser may keep the first, and would then answer for another model than the one that was checked.
 *
 * @param json text that `JSON.parse` has accepted as an object.
 */
export function duplicateTopLevelKey(json: string, watched: ReadonlySet<string>): string | undefined {
  const seen: string[] = [];
  let depth = 0;
  let expectsKey = false;
  for (let i = 0; i < json.length; i += 1) {
    switch (json.charCodeAt(i)) {
      case QUOTE: {
        const end = stringEnd(json, i);
        if (depth === 1 && expectsKey) {
          const key = keyText(json, i, end);
          if (watched.has(key)) {
            if (seen.includes(key)) return key;
            seen.push(key);
          }
          expectsKey = false;
        }
        i = end;
        break;
      }
      case 0x7b: // {
        depth += 1;
        expectsKey = depth === 1;
        break;
      case 0x5b: // [
        depth += 1;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth -= 1;
        break;
      case 0x2c: // ,
        expectsKey = depth === 1;
        break;
    }
  }
  return undefined;
}

/** A key may be written with escapes (`"mod\u0065l"`), so those are read as JSON reads them. */
function keyText(json: string, start: number, end: number): string {
  const raw = json.slice(start + 1, end);
  return raw.includes('\\') ? String(JSON.parse(`"${raw}"`)) : raw;
}
