import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@sluice/contracts';
import { eventually, freePort } from '@sluice/testing';
import type { PartSpec } from './part-spec.ts';
import { identify, isAlive } from './process-identity.ts';
import { createSupervisor, type Supervisor, type SupervisorDeps } from './supervisor.ts';
import type { SupervisorState } from './supervisor-state.ts';

const SERVE = `require('node:net').createServer().listen(Number(process.env.PORT), '127.0.0.1'); console.log('up')`;
const FAST = { firstDelayMs: 10, maxDelayMs: 50, quickMs: 60_000, maxQuickDeaths: 3 };

const until = (condition: () => boolean): Promise<void> =>
  eventually(() => expect(condition()).toBe(true), { timeoutMs: 45_000 });

describe('createSupervisor', () => {
  let folder: string;
  let running: Supervisor | undefined;
  let saved: SupervisorState[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'supervisor-'));
    saved = [];
  });
  afterEach(async () => {
    await running?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function part(name: string, script = SERVE): Promise<PartSpec> {
    const port = await freePort();
    return {
      name,
      purpose: name,
      url: `tcp://127.0.0.1:${port}`,
      command: process.execPath,
      args: ['-e', script],
      cwd: folder,
      env: { PORT: String(port) },
      health: { kind: 'tcp', host: '127.0.0.1', port },
      readyTimeoutMs: 45_000,
      graceMs: 20_000,
    };
  }

  function supervise(parts: readonly PartSpec[], over: Partial<SupervisorDeps> = {}): Supervisor {
    const self = identify(process.pid);
    if (self === undefined) throw new Error('no identity');
    running = createSupervisor({
      parts,
      self,
      portBase: 0,
      clock: systemClock,
      logPath: (name) => join(folder, `${name}.log`),
      save: (state) => saved.push(structuredClone(state)),
      bootPolicy: FAST,
      restartPolicy: FAST,
      ...over,
    });
    return running;
  }

  it('starts a part only when the one before it is healthy', async () => {
    const supervisor = supervise([await part('first'), await part('second')]);
    expect(await supervisor.start()).toBe(true);
    const secondStarted = saved.findIndex((state) => state.parts[1]?.state === 'starting');
    expect(saved[secondStarted]?.parts[0]?.state).toBe('ready');
    expect(supervisor.state.phase).toBe('running');
  });

  it('starts a part that was killed again, and counts it', async () => {
    const supervisor = supervise([await part('mortal')]);
    await supervisor.start();
    const first = supervisor.state.parts[0]?.process;
    if (first === undefined) throw new Error('it does not run');
    process.kill(first.pid, 'SIGKILL');
    await until(() => supervisor.state.parts[0]?.state === 'ready' && supervisor.state.parts[0].restarts === 1);
    expect(supervisor.state.parts[0]).toMatchObject({ restarts: 1, lastExit: 'SIGKILL' });
    expect(supervisor.state.parts[0]?.process?.pid).not.toBe(first.pid);
  });

  it('gives up a part that keeps dying, and leaves the others running', async () => {
    const flag = join(folder, 'broken');
    const sickly = await part('sickly', `if (require('node:fs').existsSync('${flag}')) process.exit(3); ${SERVE}`);
    const supervisor = supervise([await part('sound'), sickly]);
    await supervisor.start();
    writeFileSync(flag, '');
    process.kill(supervisor.state.parts[1]?.process?.pid ?? 0, 'SIGKILL');
    await until(() => supervisor.state.parts[1]?.state === 'failed');
    expect(supervisor.state.parts[1]).toMatchObject({ lastExit: 'exit code 3', restarts: FAST.maxQuickDeaths - 1 });
    const sound = supervisor.state.parts[0]?.process;
    expect(sound !== undefined && isAlive(sound)).toBe(true);
  });

  it('stops everything and keeps the last words when a part does not start', async () => {
    const supervisor = supervise([
      await part('sound'),
      await part('broken', `console.error('no configuration'); process.exit(2)`),
    ]);
    expect(await supervisor.start()).toBe(false);
    expect(supervisor.state.phase).toBe('failed');
    expect(supervisor.state.failure).toMatchObject({ part: 'broken', message: expect.stringContaining('exit code 2') });
    expect(supervisor.state.failure?.lastLines).toContain('no configuration');
    const pids = saved.flatMap((state) =>
      state.parts.flatMap((one) => (one.process === undefined ? [] : [one.process])),
    );
    expect(pids.length).toBeGreaterThan(0);
    expect(pids.some(isAlive)).toBe(false);
  });

  it('fails a part that never becomes healthy', async () => {
    const mute = await part('mute', 'setInterval(() => undefined, 1000)');
    const supervisor = supervise([{ ...mute, readyTimeoutMs: 300 }]);
    expect(await supervisor.start()).toBe(false);
    expect(supervisor.state.failure?.message).toMatch(/not healthy within/);
  });

  it('kills a part that ignores SIGTERM, with the children it left', async () => {
    const stubborn = await part(
      'stubborn',
      `process.on('SIGTERM', () => undefined); const c = require('node:child_process').spawn('sleep', ['600']); console.log('child', c.pid); ${SERVE}`,
    );
    const supervisor = supervise([{ ...stubborn, graceMs: 100 }]);
    await supervisor.start();
    const child = Number(/child (\d+)/.exec(readFileSync(join(folder, 'stubborn.log'), 'utf8'))?.[1]);
    const childIdentity = identify(child);
    if (childIdentity === undefined) throw new Error('the child does not run');
    await supervisor.stop();
    expect(isAlive(childIdentity)).toBe(false);
  });
});
