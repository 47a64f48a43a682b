import type { Principal } from '@sluice/contracts';
import { createFakeClock } from '@sluice/testing';
import type { ConfigStore } from '../config/config-store.ts';
import { createTenantGate } from './tenant-gate.ts';

const workspaces = Object.fromEntries(
  ['mallory', 'mallet', 'ada'].flatMap((tenant) =>
    ['prod', 'staging'].map((name) => [`${tenant}-${name}`, { tenant, slug: `${tenant}-${name}` }]),
  ),
);
const store = { snapshot: () => ({ workspaces }) } as unknown as ConfigStore;

function start() {
  const clock = createFakeClock(0);
  const gate = createTenantGate({ store, clock });
  /** A call of a person of a tenant, whichever of its people and workspaces. */
  const enter = (tenant: string, n = 0) => {
    const slug = `${tenant}-${n % 2 === 0 ? 'prod' : 'staging'}`;
    const principal: Principal = {
      kind: 'person',
      userId: `${tenant}-${n}`,
      email: 'a@b',
      roles: { [slug]: 'viewer' },
    };
    return gate({ params: { slug }, principal });
  };
  return { clock, enter };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the gate before the database', () => {
  it('lets a tenant in at once while two others hold and queue for all they may', async () => {
    const { enter } = start();
    const refused: unknown[] = [];
    for (let n = 0; n < 200; n += 1)
      for (const tenant of ['mallory', 'mallet']) void enter(tenant, n).catch((error: unknown) => refused.push(error));
    await turn();
    expect(refused.length).toBeGreaterThan(200);
    expect(refused[0]).toMatchObject({ status: 429, headers: { 'retry-after': expect.stringMatching(/^[1-9]/) } });
    let served = false;
    void enter('ada').then(() => (served = true));
    await turn();
    expect(served).toBe(true);
  });

  it('counts all people and workspaces of a tenant together, and a second later there is a share again', async () => {
    const { clock, enter } = start();
    const ask = async (n: number): Promise<boolean> => {
      try {
        (await enter('mallory', n))();
        return true;
      } catch {
        return false;
      }
    };
    let served = 0;
    for (let n = 0; n < 1_000; n += 1) if (await ask(n)) served += 1;
    expect(served).toBe(300);
    clock.advance(1_000);
    expect(await ask(0)).toBe(true);
  });
});
