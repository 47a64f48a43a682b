import fc from 'fast-check';
import { jsonFault, MAX_JSON_DEPTH, MAX_JSON_PARTS, parseText } from './json-shape.ts';

const nested = (depth: number, open = '[', close = ']'): string => open.repeat(depth) + close.repeat(depth);
const list = (values: number): string => `[${Array.from({ length: values }, () => '1').join(',')}]`;
const names = (count: number): string => `{${Array.from({ length: count }, (_, n) => `"n${n}":1`).join(',')}}`;

describe('the shape of a JSON text', () => {
  it('has no fault within the bounds, whatever it is', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(jsonFault(text)).toBeUndefined();
        expect(parseText(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('may be so deep and no deeper, by any kind of bracket, closed or not', () => {
    expect(jsonFault(nested(MAX_JSON_DEPTH))).toBeUndefined();
    expect(jsonFault(nested(MAX_JSON_DEPTH + 1))).toBe('too_deep');
    expect(jsonFault('{"a":'.repeat(MAX_JSON_DEPTH + 1))).toBe('too_deep');
    expect(jsonFault(`[${nested(150)},${nested(150)}]`)).toBeUndefined();
  });

  it('may hold so many values and no more, a name being dearer than a value', () => {
    expect(jsonFault(list(MAX_JSON_PARTS))).toBeUndefined();
    expect(jsonFault(list(MAX_JSON_PARTS + 1))).toBe('too_many_parts');
    expect(jsonFault(names(MAX_JSON_PARTS / 5))).toBeUndefined();
    expect(jsonFault(names(MAX_JSON_PARTS / 5 + 1))).toBe('too_many_parts');
    expect(jsonFault(`[${'[],'.repeat(MAX_JSON_PARTS / 2)}1]`)).toBe('too_many_parts');
  });

  it('counts nothing that stands in a string', () => {
    const text = JSON.stringify({ text: `${nested(1_000)}"\\${',:{'.repeat(MAX_JSON_PARTS)}` });
    expect(jsonFault(text)).toBeUndefined();
    expect(jsonFault(`"${'\\"['.repeat(1_000)}`)).toBeUndefined();
  });

  it('is not parsed beyond the bounds, nor where it is no JSON', () => {
    expect(parseText(nested(MAX_JSON_DEPTH * 2))).toBeUndefined();
    expect(parseText('[1')).toBeUndefined();
  });
});
