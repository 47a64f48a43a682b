import { TenantSignals } from './tenant-signals.ts';

describe('the signals of a tenant', () => {
  it('hold long answers to be harder than short ones', () => {
    const [long, short] = [new TenantSignals(), new TenantSignals()];
    for (let i = 0; i < 50; i += 1) {
      long.settled({ eventId: `l${i}`, outputTokens: 250, atMs: i * 100 });
      short.settled({ eventId: `s${i}`, outputTokens: 20, atMs: i * 100 });
    }
    expect(long.profile(5_000).difficulty).toBeCloseTo(1 / 3, 6);
    expect(short.profile(5_000).difficulty).toBeLessThan(0.05);
    expect(long.profile(5_000).pressure).toBe(0);
  });

  it('feel a flood that is held back, and forget it by the clock when nothing comes', () => {
    const tenant = new TenantSignals();
    for (let second = 0; second < 20; second += 1) {
      tenant.refused({ eventId: `r${second}`, count: 115, atMs: second * 1_000 });
      for (let i = 0; i < 5; i += 1)
        tenant.settled({ eventId: `s${second}.${i}`, outputTokens: 20, atMs: second * 1_000 + 500 });
    }
    expect(tenant.profile(19_500).pressure).toBeGreaterThan(0.7);
    expect(tenant.profile(19_500 + 120_000).pressure).toBeLessThan(0.001);
  });

  it('count no event twice', () => {
    const tenant = new TenantSignals();
    expect(tenant.settled({ eventId: 'e', outputTokens: 750, atMs: 0 })).toBe(true);
    expect(tenant.settled({ eventId: 'e', outputTokens: 750, atMs: 0 })).toBe(false);
    expect(tenant.profile(0)).toMatchObject({ calls: 1, arrivals: 1 });
  });
});
