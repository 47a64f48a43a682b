import { memoryTenantPorts } from '../testing/memory-tenant-ports.ts';
import { createMemoryConfigRepository } from '../config/memory-config-repository.ts';
import { ASKED_AT_ONCE, ASKED_OF_ONE, limitFigures, WAITING_OF_ONE } from './limit-figures.ts';

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function start() {
  const running: { workspace: string; answer: () => void; fail: () => void }[] = [];
  const figures = limitFigures({
    ...memoryTenantPorts(createMemoryConfigRepository()).figures,
    requests: ({ workspace }) =>
      new Promise((resolve, reject) =>
        running.push({
          workspace,
          answer: () => resolve({ found: [], next_cursor: null }),
          fail: () => reject(new Error('cut')),
        }),
      ),
  });
  const ask = (workspace: string) =>
    figures.requests({ workspace, limit: 1 }).then(
      () => 'answered',
      (error: unknown) => (error as { status?: number }).status ?? 'failed',
    );
  const asked = (): string[] => running.map(({ workspace }) => workspace);
  return { running, ask, asked };
}

describe('dear questions of consoles', () => {
  it('of one workspace take few places, and others are answered meanwhile', async () => {
    const { running, ask, asked } = start();
    const mine = Array.from({ length: 10 }, () => ask('acme-prod'));
    const theirs = ask('globex-prod');
    await tick();
    expect(asked()).toEqual([...Array<string>(ASKED_OF_ONE).fill('acme-prod'), 'globex-prod']);
    for (let n = 0; n < 11; n += 1) {
      running[n]?.answer();
      await tick();
    }
    expect([...(await Promise.all(mine)), await theirs]).toEqual(Array<string>(11).fill('answered'));
  });

  it('never take all connections, and a place that failed is free again', async () => {
    const { running, ask, asked } = start();
    const all = ['a', 'b', 'c', 'd', 'e'].flatMap((slug) => [ask(slug), ask(slug)]);
    await tick();
    expect(asked()).toHaveLength(ASKED_AT_ONCE);
    running[0]?.fail();
    expect(await all[0]).toBe('failed');
    await tick();
    expect(asked()).toHaveLength(ASKED_AT_ONCE + 1);
  });

  it('wait in a bounded line', async () => {
    const { ask } = start();
    const held = Array.from({ length: ASKED_OF_ONE + WAITING_OF_ONE }, () => ask('acme-prod'));
    expect(held).toHaveLength(ASKED_OF_ONE + WAITING_OF_ONE);
    expect(await ask('acme-prod')).toBe(503);
  });
});
