import { fuzzWire, WIRE_PROPERTIES } from './wire-fuzz.ts';

describe('the wire, tried with inputs put together from real shapes', () => {
  it.each(WIRE_PROPERTIES.map((property) => [property.name, property] as const))('%s', (_name, property) => {
    expect(property.broken(500)).toBeUndefined();
  });

  it('the long form tells its progress, and stops at the number that was asked for', async () => {
    const lines: string[] = [];
    expect(await fuzzWire(1_000, 7, (line) => lines.push(line))).toBe(1_000);
    expect(lines.at(-1)).toMatch(/^1,000 of 1,000 inputs/);
  });
});
