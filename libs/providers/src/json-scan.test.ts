import fc from 'fast-check';
import { scanObject } from './json-scan.ts';
import { jsonFault, MAX_JSON_DEPTH, MAX_JSON_PARTS } from './json-shape.ts';

const KEYS: ReadonlySet<string> = new Set(['model', 'stream', 'x']);
const scan = (text: string) => scanObject(Buffer.from(text), KEYS);

describe('one walk over a JSON object', () => {
  it('finds where the watched members stand, in the order of the text', () => {
    const text = '{ "a" : [1,{"model":2}], "model" : "m\\"}" ,\n"é":0,"stream":true}';
    const { index } = scan(text);
    const bytes = Buffer.from(text);
    const cut = (from: number, to: number) => bytes.toString('utf8', from, to);
    expect(index.count).toBe(4);
    expect(cut(index.closeAt, index.closeAt + 1)).toBe('}');
    expect(index.members.map((m) => [m.key, m.ordinal, cut(m.valueStart, m.valueEnd)])).toEqual([
      ['model', 1, '"m\\"}"'],
      ['stream', 3, 'true'],
    ]);
    const [model, stream] = index.members;
    expect(cut((model?.previousEnd ?? 0) - 1, model?.previousEnd ?? 0)).toBe(']');
    expect(cut(model?.nextStart ?? 0, (model?.nextStart ?? 0) + 4)).toBe('"é"');
    expect(stream?.nextStart).toBeUndefined();
  });

  it('notices a watched member that stands twice, in escapes too, and no other', () => {
    expect(scan('{"model":1,"a":1,"a":2,"model":2}').twice).toBe('model');
    expect(scan('{"model":1,"mod\\u0065l":2}').twice).toBe('model');
    expect(scan('{"model":{"model":1,"stream":2},"stream":[{"model":1}]}').twice).toBeUndefined();
  });

  it('finds the end of a long string wherever escapes and quotes stand in it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(200), fc.constantFrom('"', '\\', 'é', '\n')), { maxLength: 20 }),
        (pieces) => {
          const text = pieces.map(([length, last]) => 'x'.repeat(length) + last).join('');
          const { index } = scan(JSON.stringify({ x: text, a: text, model: text }));
          expect(index.count).toBe(3);
          expect(index.members.map(({ key }) => key)).toEqual(['x', 'model']);
        },
      ),
    );
  });

  it('counts the characters that are written as escapes, and nothing that only looks like one', () => {
    expect(scan('{"x":"\\u0041\\u00e9 \\\\u0041"}').escapes).toBe(2);
  });

  it('bounds depth and values as the text of the whole does', () => {
    const deep = (n: number) => `{"a":${'['.repeat(n)}${']'.repeat(n)}}`;
    expect(scan(deep(MAX_JSON_DEPTH - 1)).fault).toBeUndefined();
    expect(scan(deep(MAX_JSON_DEPTH)).fault).toBe('too_deep');
    expect(scan(`{"a":[${'1,'.repeat(MAX_JSON_PARTS)}1]}`).fault).toBe('too_many_parts');
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(scan(text).fault).toBe(jsonFault(text));
      }),
    );
  });

  it('comes to an end whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', 'u', ' ') }), (text) => {
        expect(scan(text).index.members.length).toBeLessThanOrEqual(text.length);
      }),
    );
    expect(scan('{"x":"\\').twice).toBeUndefined();
  });
});
