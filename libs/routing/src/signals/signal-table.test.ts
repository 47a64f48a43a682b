import { createSignalTable } from './signal-table.ts';

describe('the signals of all tenants', () => {
  it("of a tenant that is flooded are high while it is, 0 again by the clock, and no other tenant's", () => {
    const table = createSignalTable();
    for (let second = 0; second < 20; second += 1) {
      const atMs = second * 1_000;
      table.refused({ tenant: 'initech', eventId: `r${second}`, count: 115, atMs });
      for (let i = 0; i < 5; i += 1)
        table.settled({ tenant: 'initech', eventId: `s${second}.${i}`, outputTokens: 20, atMs });
      table.settled({ tenant: 'acme', eventId: `a${second}`, outputTokens: 250, atMs });
      table.settled({ tenant: 'globex', eventId: `g${second}`, outputTokens: 20, atMs });
    }
    expect(table.profile('initech', 20_000)?.pressure).toBeGreaterThan(0.6);
    expect([table.profile('acme', 20_000)?.pressure, table.profile('globex', 20_000)?.pressure]).toEqual([0, 0]);
    expect(table.profile('initech', 140_000)?.pressure).toBe(0);
    expect(table.profile('acme', 20_000)?.difficulty).toBeGreaterThan(
      5 * (table.profile('globex', 20_000)?.difficulty ?? 1),
    );
  });

  it('tell a hard tenant from one whose model is only verbose', () => {
    const table = createSignalTable();
    for (let i = 0; i < 50; i += 1) {
      table.settled({ tenant: 'verbose', eventId: `v${i}`, outputTokens: 600, atMs: i, expectedTokens: 600 });
      table.settled({ tenant: 'hard', eventId: `h${i}`, outputTokens: 600, atMs: i, expectedTokens: 200 });
    }
    expect([table.profile('verbose', 50)?.residualTokens, table.profile('hard', 50)?.residualTokens]).toEqual([
      0,
      expect.closeTo(400, 6),
    ]);
  });

  it('outlive a restart to the last bit, and stay bounded', () => {
    const table = createSignalTable({ maxTenants: 2 });
    for (const [tenant, tokens] of [
      ['a', 10],
      ['b', 20],
      ['c', 30],
      ['b', 40],
    ] as const)
      table.settled({ tenant, eventId: `${tenant}${tokens}`, outputTokens: tokens, atMs: tokens });
    expect(table.profiles(100).map(([tenant]) => tenant)).toEqual(['c', 'b']);
    expect(table.profile('a', 100)).toBeUndefined();
    const restored = createSignalTable();
    restored.restore(JSON.parse(JSON.stringify(table.state)));
    expect(restored.profiles(100)).toEqual(table.profiles(100));
  });
});
