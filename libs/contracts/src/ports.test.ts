import { DEFAULT_PORTS, portsFrom } from './ports.ts';

describe('ports', () => {
  it('a base moves every port, so that two checkouts run side by side', () => {
    const moved = portsFrom(1000);
    for (const [name, port] of Object.entries(DEFAULT_PORTS))
      expect(moved[name as keyof typeof DEFAULT_PORTS]).toBe(port + 1000);
  });
  it('no two parts share a port', () => {
    expect(new Set(Object.values(DEFAULT_PORTS)).size).toBe(Object.values(DEFAULT_PORTS).length);
  });
  it('a base that leads out of the range is refused by the name of the part', () => {
    expect(() => portsFrom(20_000)).toThrow(/postgres on port 75432.*the largest that works is 10103/);
    expect(Math.max(...Object.values(portsFrom(10_103)))).toBe(65_535);
    expect(() => portsFrom(-3_000)).toThrow(/the least -2999/);
    expect(Math.min(...Object.values(portsFrom(-2_999)))).toBe(1);
    expect(() => portsFrom(0.5)).toThrow(/whole number/);
  });
});
