import { Provider } from './catalogue.ts';
import { KeyId, Name, Slug } from './ids.ts';
import { RequestRate } from './policy.ts';
import { storableFault } from './storable.ts';

const faultsOf =
  (schema: { safeParse(value: unknown): { error?: { issues: { path: PropertyKey[] }[] } | undefined } }) =>
  (value: unknown): string[] =>
    (schema.safeParse(value).error?.issues ?? []).map(({ path }) => path.join('.'));

describe('what a store cannot hold', () => {
  it.each([
    ['NUL', { a: [{ b: 'x\0' }] }, 'a.0.b'],
    ['half of a surrogate pair', { a: '\ud83d' }, 'a'],
    ['NUL in a name', { a: { 'x\0': 1 } }, 'a.x\ufffd'],
    ['a subnormal number', { rate: 1e-320 }, 'rate'],
    ['negative zero', { rate: -0 }, 'rate'],
    ['a number beyond all doubles', JSON.parse('{"rate":1e999}'), 'rate'],
    ['a field that schemas drop in silence', JSON.parse('{"tags":{"__proto__":"x"}}'), 'tags.__proto__'],
    ['a text alone', '\0', ''],
  ])('%s is found where it stands', (_what, document, field) => {
    expect(storableFault(document)?.path.join('.')).toBe(field);
  });

  it('is nothing that people write: emoji, other alphabets, line ends, tiny and large numbers', () => {
    expect(
      storableFault({ text: 'Grüße, 世界 👋🏽\r\n\t\u0001', numbers: [0, 1e-300, 1e300, -1.5], none: null, yes: true }),
    ).toBeUndefined();
  });

  it('is found in a document of any depth', () => {
    const deep = JSON.parse(`${'['.repeat(100_000)}"\\u0000"${']'.repeat(100_000)}`) as unknown;
    expect(storableFault(deep)?.path).toHaveLength(100_000);
  });
});

describe('an id', () => {
  it.each(['constructor', 'toString', 'hasOwnProperty', 'isPrototypeOf', 'valueOf'])('is never %s', (id) => {
    expect(Name.safeParse(id).success).toBe(false);
    expect(KeyId.safeParse(id).success).toBe(false);
    expect(Slug.safeParse(id).success).toBe(false);
  });

  it('may hold such a word', () => {
    expect(Name.parse('constructor-1')).toBe('constructor-1');
  });
});

describe('a provider', () => {
  const provider = {
    id: 'p',
    displayName: 'P',
    dialect: 'openai',
    baseUrl: 'https://api.example.com/v1',
    credentials: [{ id: 'c', slots: 1 }],
  };
  const of = faultsOf(Provider);

  it.each([
    'https://api.example.com/v1?region=eu',
    'https://api.example.com/v1?',
    'https://api.example.com/v1#part',
    'https://user:password@api.example.com/v1',
    'https://user@api.example.com/v1',
  ])('has no base URL such as %s', (baseUrl) => {
    expect(of({ ...provider, baseUrl })).toEqual(['baseUrl']);
  });

  it.each([
    ['a line end', { 'x-team': 'a\r\nx-admin: 1' }, 'headers.x-team'],
    ['another alphabet', { 'x-team': 'команда' }, 'headers.x-team'],
    ['NUL', { 'x-team': 'a\0' }, 'headers.x-team'],
    ['a blank in the name', { 'x team': 'a' }, 'headers.x team'],
    ['a header that the gateway sets', { Authorization: 'Bearer x' }, 'headers.Authorization'],
    ['a header of the connection', { 'transfer-encoding': 'chunked' }, 'headers.transfer-encoding'],
  ])('has no extra header with %s', (_what, headers, field) => {
    expect(of({ ...provider, headers })).toEqual([field]);
  });

  it('has extra headers as HTTP carries them', () => {
    expect(of({ ...provider, headers: { 'X-Team': 'search, "eu" \t~' } })).toEqual([]);
  });
});

describe('a rate', () => {
  it.each([0, 1e-320, 1e-7, 1e10, Number.MAX_VALUE, -1, -0])('is never %d', (perSecond) => {
    expect(faultsOf(RequestRate)({ perSecond, burst: 1 })).toEqual(['perSecond']);
    expect(faultsOf(RequestRate)({ perMinute: perSecond, burst: 1 })).toEqual(['perMinute']);
  });

  it('may be one request in days', () => {
    expect(RequestRate.parse({ perMinute: 0.000_1, burst: 1 }).perMinute).toBe(0.000_1);
  });
});
