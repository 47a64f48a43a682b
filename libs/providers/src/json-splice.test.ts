import fc from 'fast-check';
import { scanObject } from './json-scan.ts';
import { spliceTopLevel } from './json-splice.ts';

const splice = (text: string, ...changes: [string, unknown][]) => spliceTopLevel(Buffer.from(text), changes).toString();

describe('splicing top-level members', () => {
  it('changes one value and leaves every other byte as it was', () => {
    expect(splice('{ "a" : [1, {"model":"x"}],\n "model":"old" , "z":"é\\"}" }', ['model', 'new'])).toBe(
      '{ "a" : [1, {"model":"x"}],\n "model":"new" , "z":"é\\"}" }',
    );
  });
  it('adds a member that is not there', () => {
    expect(splice('{"a":1}', ['b', { c: true }])).toBe('{"a":1,"b":{"c":true}}');
    expect(splice('{}', ['b', 1])).toBe('{"b":1}');
  });
  it('takes a member out with its comma', () => {
    expect(splice('{"a":1,"b":2,"c":3}', ['b', undefined])).toBe('{"a":1,"c":3}');
    expect(splice('{"a":1,"b":2}', ['b', undefined])).toBe('{"a":1}');
    expect(splice('{"b":2}', ['b', undefined])).toBe('{}');
    expect(splice('{"b":2}', ['b', undefined], ['c', 3])).toBe('{"c":3}');
  });
  it('takes out neighbours and every copy of a repeated member', () => {
    expect(splice('{"a":1,"b":2,"c":3}', ['b', undefined], ['c', undefined])).toBe('{"a":1}');
    expect(splice('{"a":1,"b":2}', ['a', undefined], ['b', undefined], ['x', 1])).toBe('{"x":1}');
    expect(splice('{"model":"m","t":"x","t":"y"}', ['t', undefined])).toBe('{"model":"m"}');
    expect(splice('{"t":"x","model":"m","t":"y"}', ['t', undefined], ['s', true])).toBe('{"model":"m","s":true}');
  });
  it('gives the same buffer back when nothing changes', () => {
    const json = Buffer.from('{"a":1}');
    expect(spliceTopLevel(json, [['b', undefined]])).toBe(json);
  });
  it('agrees with parsing and writing again, for any object', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.string(),
        fc.jsonValue(),
        fc.constantFrom(0, 2),
        (object, key, value, indent) => {
          fc.pre(key !== '__proto__' && !('__proto__' in object));
          const json = Buffer.from(JSON.stringify(object, null, indent));
          expect(JSON.parse(spliceTopLevel(json, [[key, value]]).toString())).toEqual(
            JSON.parse(JSON.stringify({ ...object, [key]: value })),
          );
          const { [key]: _gone, ...rest } = object;
          expect(JSON.parse(spliceTopLevel(json, [[key, undefined]]).toString())).toEqual(
            JSON.parse(JSON.stringify(rest)),
          );
          const keys = Object.keys(object);
          const { index } = scanObject(json, new Set(keys));
          expect(index.members.map((member) => member.key)).toEqual(keys);
          for (const member of index.members)
            expect(JSON.parse(json.toString('utf8', member.valueStart, member.valueEnd))).toEqual(
              JSON.parse(JSON.stringify(object[member.key])),
            );
          expect(spliceTopLevel(json, [[key, value]], index)).toEqual(spliceTopLevel(json, [[key, value]]));
          expect(spliceTopLevel(json, [[key, undefined]], index)).toEqual(spliceTopLevel(json, [[key, undefined]]));
        },
      ),
    );
  });
});
