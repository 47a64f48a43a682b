import { applyPatch, systemClock, type ConfigPatch, type ConfigSnapshot } from '@sluice/contracts';
import { demoSeed } from '../testing/demo-seed.ts';
import { createConfigStore, type ConfigStore, type RowChange } from './config-store.ts';
import { createMemoryConfigRepository, type MemoryConfigRepository } from './memory-config-repository.ts';
import { seedConfig } from './seed-config.ts';

async function start(): Promise<{ repository: MemoryConfigRepository; store: ConfigStore }> {
  const repository = createMemoryConfigRepository();
  await seedConfig({ repository, clock: systemClock }, demoSeed());
  const store = createConfigStore({ repository });
  await store.load();
  return { repository, store };
}

/** A repeatable sequence of numbers in [0, 1): mulberry32 (Tommy Ettinger, 2017). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function randomChange(random: () => number, snapshot: ConfigSnapshot): RowChange {
  const id = `switch-${Math.floor(random() * 4)}`;
  const pick = random();
  if (pick < 0.3 && snapshot.killSwitches[id] !== undefined) return { table: 'killSwitches', id };
  if (pick < 0.6) return { table: 'killSwitches', id, value: { id, scope: 'all', message: `because ${random()}` } };
  const workspace = snapshot.workspaces['acme-prod'];
  return {
    table: 'workspaces',
    id: 'acme-prod',
    value: { ...workspace, override: { maxPoolSharePercent: 1 + Math.floor(random() * 100) } },
  };
}

describe('configuration', () => {
  it('any snapshot plus the patches after it is the snapshot of later, also one that is read from the database', async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const random = randomFrom(seed);
      const { repository, store } = await start();
      const moments: ConfigSnapshot[] = [store.snapshot()];
      const patches: ConfigPatch[] = [];
      store.subscribe((patch) => patches.push(patch));
      for (let i = 0; i < 15; i += 1) {
        await store.change({ changes: [randomChange(random, store.snapshot())], audit: () => [] });
        moments.push(store.snapshot());
      }
      const from = Math.floor(random() * moments.length);
      const start0 = moments[from];
      if (start0 === undefined) throw new Error('no such moment');
      const wire = JSON.parse(
        JSON.stringify(patches.filter((patch) => patch.version > start0.version)),
      ) as ConfigPatch[];
      expect(wire.reduce(applyPatch, start0)).toEqual(store.snapshot());
      expect(store.patchesSince(start0.version)).toEqual(patches.filter((patch) => patch.version > start0.version));
      const again = createConfigStore({ repository });
      await again.load();
      expect(again.snapshot()).toEqual(store.snapshot());
    }
  });

  it('changes made at once become versions one after the other, none lost', async () => {
    const { store } = await start();
    const make = (i: number): Promise<ConfigPatch> =>
      store.change({
        changes: [{ table: 'killSwitches', id: `k${i}`, value: { id: `k${i}`, scope: 'all', message: 'm' } }],
        audit: () => [],
      });
    const patches = await Promise.all(Array.from({ length: 10 }, (_, i) => make(i)));
    expect(patches.map((patch) => patch.version)).toEqual(Array.from({ length: 10 }, (_, i) => i + 2));
    expect(Object.keys(store.snapshot().killSwitches)).toHaveLength(10);
  });

  it('a change that another process stored first is taken over before the own one', async () => {
    const { repository, store } = await start();
    const seen: number[] = [];
    store.subscribe((patch) => seen.push(patch.version));
    await repository.commit({ version: 2, changes: [{ table: 'keys', id: 'acmeKey00001' }] }, []);
    const patch = await store.change({
      changes: [{ table: 'killSwitches', id: 'k', value: { id: 'k', scope: 'all', message: 'm' } }],
      audit: () => [],
    });
    expect(patch.version).toBe(3);
    expect(seen).toEqual([2, 3]);
    expect(store.snapshot().keys['acmeKey00001']).toBeUndefined();
  });

  it('too old a gateway, or one from another database, is given a whole snapshot', async () => {
    const { store } = await start();
    expect(store.patchesSince(0)).toBeUndefined();
    expect(store.patchesSince(99)).toBeUndefined();
    expect(store.patchesSince(store.version)).toEqual([]);
  });

  it('a seed that contradicts itself is refused with the field, and one that is there stays', async () => {
    const seed = demoSeed();
    const broken = { ...seed, tenants: seed.tenants.map((tenant) => ({ ...tenant, plan: 'gone' })) };
    await expect(
      seedConfig({ repository: createMemoryConfigRepository(), clock: systemClock }, broken),
    ).rejects.toThrow('tenants.0.plan: there is no plan gone');
    const { repository } = await start();
    expect(await seedConfig({ repository, clock: systemClock }, broken)).toBe(false);
  });
});
