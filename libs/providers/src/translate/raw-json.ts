import { randomBytes } from 'node:crypto';
import { stringEnd } from '../json-shape.ts';

/** Around a JSON text inside a string, until it takes the string's place. Random, so that no caller can write it. */
const MARK = `raw:${randomBytes(16).toString('hex')}:`;
const MARKED = new RegExp(`"${MARK}((?:[^"\\\\]|\\\\.)*)"`, 'g');

/**
 * A JSON text that stands for itself within a larger value: numbers keep all of their digits, and members their order.
 * Only {@link stringifyWithRaw} can write it.
 */
export class RawJson {
  readonly text: string;

  /** @param text valid JSON. */
  constructor(text: string) {
    this.text = text;
  }

  toJSON(): string {
    return MARK + this.text;
  }
}

/** `JSON.stringify` for values that hold {@link RawJson}. */
export function stringifyWithRaw(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes(MARK)) return text;
  return text.replaceAll(MARKED, (_all, inner: string) => JSON.parse(`"${inner}"`) as string);
}

/**
 * The texts of the values at a path, as they were written.
 *
 * @param json valid JSON.
 * @param path names of members, and `*` for each element of an array.
 * @returns texts by the indices of the elements passed on the way, joined by dots. Of members of the same name the last
 * counts, as for `JSON.parse`.
 */
export function rawTexts(json: string, path: readonly string[]): ReadonlyMap<string, string> {
  const walk = new Walk(json, path);
  walk.into(0, '');
  return walk.found;
}

/** One pass over a text: what is not on the path is skipped. */
class Walk {
  readonly found = new Map<string, string>();
  readonly #json: string;
  readonly #path: readonly string[];
  #at = 0;

  constructor(json: string, path: readonly string[]) {
    this.#json = json;
    this.#path = path;
  }

  into(step: number, indices: string): void {
    this.#skipSpace();
    const name = this.#path[step];
    if (name === undefined) {
      const start = this.#at;
      this.#skipValue();
      this.found.set(indices, this.#json.slice(start, this.#at));
    } else if (name === '*' && this.#json[this.#at] === '[') this.#elements(step, indices);
    else if (name !== '*' && this.#json[this.#at] === '{') this.#members(step, indices, name);
    else this.#skipValue();
  }

  #elements(step: number, indices: string): void {
    for (let index = 0; this.#next(']'); index += 1)
      this.into(step + 1, indices === '' ? `${index}` : `${indices}.${index}`);
  }

  #members(step: number, indices: string, name: string): void {
    while (this.#next('}')) {
      const start = this.#at;
      this.#at = stringEnd(this.#json, start) + 1;
      const isOnPath = JSON.parse(this.#json.slice(start, this.#at)) === name;
      this.#skipSpace();
      this.#at += 1;
      if (!isOnPath) this.#skipValue();
      else {
        for (const key of this.found.keys())
          if (key === indices || key.startsWith(`${indices}.`)) this.found.delete(key);
        if (indices === '') this.found.clear();
        this.into(step + 1, indices);
      }
    }
  }

  /** Goes past an opening bracket or a comma; false at the closing one, which it goes past as well. */
  #next(close: string): boolean {
    this.#skipSpace();
    if (this.#json[this.#at] !== close) this.#at += 1;
    this.#skipSpace();
    if (this.#at < this.#json.length && this.#json[this.#at] !== close) return true;
    this.#at += 1;
    return false;
  }

  #skipSpace(): void {
    while (this.#json.charCodeAt(this.#at) <= 0x20) this.#at += 1;
  }

  #skipValue(): void {
    this.#skipSpace();
    const json = this.#json;
    let depth = 0;
    for (; this.#at < json.length; this.#at += 1) {
      const char = json[this.#at];
      if (char === '"') this.#at = stringEnd(json, this.#at);
      else if (char === '{' || char === '[') depth += 1;
      else if (char === '}' || char === ']') {
        if (depth === 0) return;
        depth -= 1;
      } else if (depth === 0 && char === ',') return;
      if (depth === 0 && (char === '"' || char === '}' || char === ']')) {
        this.#at += 1;
        return;
      }
      if (depth === 0 && char !== undefined && char <= ' ') return;
    }
  }
}
