import { isObject } from './sim-call.ts';

const WORDS = [
  'water',
  'finds',
  'its',
  'level',
  'through',
  'every',
  'gate',
  'and',
  'the',
  'stream',
  'runs',
  'on',
  'past',
  'stone',
  'mill',
  'bridge',
] as const;

/** `count` words, each one token; the same ones for the same seed. */
export function wordsFor(seed: number, count: number): string[] {
  const words = new Array<string>(count);
  let state = seed | 1;
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const word = WORDS[state >>> 28] ?? 'water';
    words[i] = i === 0 ? word : ` ${word}`;
  }
  return words;
}

/** Arguments that fit the top level of a tool's JSON schema, as JSON of at least three characters. */
export function argumentsFor(schema: unknown, seed: number): string {
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
  const args: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) args[name] = valueFor(property, seed);
  const text = JSON.stringify(args);
  return text === '{}' ? '{ }' : text;
}

/** A JSON text that fits the top level of a schema; of one member where the schema names none. */
export function jsonFor(schema: unknown, seed: number): string {
  const named = isObject(schema) && isObject(schema['properties']) && Object.keys(schema['properties']).length > 0;
  return named ? argumentsFor(schema, seed) : JSON.stringify({ answer: wordsFor(seed, 4).join('') });
}

function valueFor(property: unknown, seed: number): unknown {
  if (!isObject(property)) return 'water';
  if (Array.isArray(property['enum']) && property['enum'].length > 0)
    return property['enum'][seed % property['enum'].length] as unknown;
  switch (property['type']) {
    case 'integer':
    case 'number':
      return seed % 100;
    case 'boolean':
      return seed % 2 === 0;
    case 'array':
      return [];
    case 'object':
      return {};
    case 'null':
      return null;
    default:
      return wordsFor(seed, 4).join('');
  }
}

/** Cuts text into `count` pieces of nearly equal length: at least three, at most one per character. */
export function fragmentsOf(text: string, count: number): string[] {
  const pieces = Math.max(3, Math.min(count, text.length));
  return Array.from({ length: pieces }, (_, i) =>
    text.slice(Math.floor((i * text.length) / pieces), Math.floor(((i + 1) * text.length) / pieces)),
  );
}
