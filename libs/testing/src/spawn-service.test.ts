import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { spawnService } from './spawn-service.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spawn-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function script(code: string): Promise<string> {
  const path = join(folder, `${Math.random().toString(36).slice(2)}.mjs`);
  await writeFile(path, code);
  return path;
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('spawnService', () => {
  it('waits for a line, collects output, and passes only the environment it was given', async () => {
    process.env['LEAKY'] = 'yes';
    const entry = await script(
      `console.log(JSON.stringify({ given: process.env.GIVEN, leaky: process.env.LEAKY })); console.error('up'); setInterval(() => {}, 1000);`,
    );
    const service = await spawnService({ entry, env: { GIVEN: '1' }, readyWhen: /^up$/m });
    expect(service.output()).toContain('{"given":"1"}');
    expect(alive(service.pid)).toBe(true);
    await service.stop();
    expect(alive(service.pid)).toBe(false);
  });

  it('waits until a URL answers 200 and gives the exit code of a clean stop', async () => {
    const port = await freePort();
    const entry = await script(
      `import { createServer } from 'node:http'; let n = 0; const s = createServer((q, r) => { r.statusCode = ++n < 2 ? 503 : 200; r.end(); }).listen(${port}, '127.0.0.1'); process.on('SIGTERM', () => process.exit(7));`,
    );
    const service = await spawnService({ entry, readyWhen: { url: `http://127.0.0.1:${port}/health` } });
    expect(await service.stop()).toBe(7);
  });

  it('kills a process that ignores SIGTERM', async () => {
    const entry = await script(`process.on('SIGTERM', () => {}); console.log('up'); setInterval(() => {}, 1000);`);
    const service = await spawnService({ entry, readyWhen: /up/ });
    expect(await service.stop(50)).toBeNull();
    expect(alive(service.pid)).toBe(false);
  });

  it('fails with the output of a process that ended early', async () => {
    const entry = await script(`console.error('port is taken'); process.exit(1);`);
    await expect(spawnService({ entry, readyWhen: /up/ })).rejects.toThrow('port is taken');
  });

  it('leaves nothing behind when the process is not ready in time', async () => {
    const entry = await script(`console.log('pid ' + process.pid); setInterval(() => {}, 1000);`);
    const error = await spawnService({ entry, readyWhen: /never/, timeoutMs: 4_000 }).catch((e: Error) => e);
    const pid = Number(/pid (\d+)/.exec(error instanceof Error ? error.message : '')?.[1]);
    expect(pid).toBeGreaterThan(0);
    expect(alive(pid)).toBe(false);
  });
});
