import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identify, isAlive, type ProcessIdentity } from '../supervisor/process-identity.ts';
import type { SupervisorState } from '../supervisor/supervisor-state.ts';
import { writePrivateJson } from './private-file.ts';
import { stackFiles } from './settings.ts';
import { removeData, stopStack } from './stop-stack.ts';

const children: ChildProcess[] = [];

function sleeper(): ProcessIdentity {
  const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  children.push(child);
  const identity = identify(child.pid ?? 0);
  if (identity === undefined) throw new Error('sleep does not run');
  return identity;
}

const DEAD: ProcessIdentity = { pid: 2 ** 22 - 1, startTime: '1' };

describe('stopStack', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stop-stack-'));
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(dataDir, { recursive: true, force: true });
  });

  function remember(processes: readonly ProcessIdentity[]): void {
    const state: SupervisorState = {
      supervisor: DEAD,
      phase: 'running',
      portBase: 0,
      startedAtMs: 0,
      parts: processes.map((process, i) => ({
        name: `part-${i}`,
        purpose: '',
        url: '',
        state: 'ready',
        restarts: 0,
        process,
      })),
    };
    writePrivateJson(stackFiles(dataDir).state, state);
  }

  it('stops the parts of a supervisor that was killed, and forgets them', async () => {
    const mine = sleeper();
    remember([mine]);
    expect(await stopStack(dataDir)).toEqual(['part-0']);
    expect(isAlive(mine)).toBe(false);
    expect(existsSync(stackFiles(dataDir).state)).toBe(false);
  });

  it('does not touch a process that has taken over the number of a dead part', async () => {
    const foreign = sleeper();
    remember([{ pid: foreign.pid, startTime: 'another time' }]);
    expect(await stopStack(dataDir)).toEqual([]);
    expect(isAlive(foreign)).toBe(true);
  });

  it('has nothing to do where nothing was started', async () => {
    expect(await stopStack(join(dataDir, 'elsewhere'))).toEqual([]);
  });

  it('removes a database that had to be put outside of the folder, too', () => {
    const outside = mkdtempSync(join(tmpdir(), 'sluice-outside-'));
    const inside = mkdtempSync(join(tmpdir(), 'sluice-inside-'));
    symlinkSync(outside, join(inside, 'postgres'));
    removeData(inside);
    expect([existsSync(inside), existsSync(outside)]).toEqual([false, false]);
  });
});
