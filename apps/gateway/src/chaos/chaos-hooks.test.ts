import type { OutboxFiles } from '@sluice/events';
import { createFakeClock } from '@sluice/testing';
import { createSilentLog } from '../testing/silent-log.ts';
import { createChaosHooks } from './chaos-hooks.ts';

const NOW = Date.UTC(2026, 5, 1);

function hooks() {
  const clock = createFakeClock(NOW);
  const ends: { atMs: number; end: () => void }[] = [];
  let killed = 0;
  const written: number[] = [];
  const files: OutboxFiles = {
    allocate: async () => undefined,
    allocateNow: () => undefined,
    write: (_fd, _bytes, from, to) => (written.push(to - from), to - from),
    sync: async () => undefined,
  };
  const made = createChaosHooks({
    clock,
    files,
    logger: createSilentLog(),
    kill: () => (killed += 1),
    setTimeout: (end, ms) => (ends.push({ atMs: clock.now() + ms, end }), {}),
  });
  const pass = (ms: number): void => {
    clock.advance(ms);
    for (const { atMs, end } of ends) if (atMs <= clock.now()) end();
  };
  return { made, clock, pass, written, killed: () => killed };
}

describe('chaos orders', () => {
  it('put the wall clock wrong for their time, never durations, and the newest order decides', () => {
    const { made, clock, pass } = hooks();
    made.obey({ action: 'clock', offset_ms: 3_600_000, seconds: 10 });
    expect(made.clock.now()).toBe(NOW + 3_600_000);
    expect(made.clock.monotonic()).toBe(clock.monotonic());
    pass(9_000);
    made.obey({ action: 'clock', offset_ms: -60_000, seconds: 10 });
    pass(2_000);
    expect(made.clock.now()).toBe(clock.now() - 60_000);
    pass(8_000);
    expect(made.clock.now()).toBe(clock.now());
  });

  it('make the disk refuse every write as a full one does, until their time is over or they are undone', async () => {
    const { made, pass, written } = hooks();
    const write = () => made.files.write(3, Buffer.from('ab'), 0, 2, 0);
    made.obey({ action: 'disk_full', seconds: 5 });
    expect(write).toThrow(expect.objectContaining({ code: 'ENOSPC' }));
    await expect(made.files.allocate('x', 1)).rejects.toThrow('ENOSPC');
    expect(() => made.files.allocateNow('x', 1)).toThrow('ENOSPC');
    pass(5_000);
    expect(write()).toBe(2);
    made.obey({ action: 'disk_full', seconds: 5 });
    made.obey({ action: 'mend', what: 'clock' });
    expect(write).toThrow('ENOSPC');
    made.obey({ action: 'mend', what: 'disk_full' });
    expect(write()).toBe(2);
    expect(written).toEqual([2, 2]);
  });

  it('kill when they say so', () => {
    const { made, killed } = hooks();
    made.obey({ action: 'kill' });
    expect(killed()).toBe(1);
  });
});
