import { execFileSync } from 'node:child_process';
import { accessSync, constants, mkdirSync, statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import { PORTS_OF_PARTS } from './stack-parts.ts';
import type { StackSettings } from './settings.ts';

const MIN_FREE_BYTES = 700 * 1024 * 1024;

/** Sentences about what would keep the stack from starting; empty when nothing would. */
export async function preflight(settings: StackSettings): Promise<string[]> {
  return [...nodeFaults(process.versions.node), ...diskFaults(settings.dataDir), ...(await portFaults(settings))];
}

export function nodeFaults(version: string): string[] {
  const major = Number(version.split('.')[0]);
  return major >= 24
    ? []
    : [`Node.js ${version} runs this; the stack needs Node.js 24 (run it through make, which takes the pinned one).`];
}

function diskFaults(dataDir: string): string[] {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.W_OK);
  } catch (error) {
    return [`${dataDir} cannot be written: ${(error as Error).message}`];
  }
  const { bavail, bsize } = statfsSync(dataDir);
  const free = bavail * bsize;
  if (free >= MIN_FREE_BYTES) return [];
  return [
    `The disk of ${dataDir} has ${Math.floor(free / 1048576)} MiB left; the stack needs ${MIN_FREE_BYTES / 1048576} MiB.`,
  ];
}

/** One sentence for each port that another process holds. */
export async function portFaults(
  settings: Pick<StackSettings, 'host' | 'ports' | 'externalDatabaseUrl'>,
): Promise<string[]> {
  const faults: string[] = [];
  for (const { part, ports } of PORTS_OF_PARTS) {
    if (part === 'database' && settings.externalDatabaseUrl !== undefined) continue;
    for (const name of ports) {
      const port = settings.ports[name];
      if (await isFree(settings.host, port)) continue;
      const holder = holderOf(port);
      faults.push(
        `Port ${port} of ${part} (${name}) is taken${holder === undefined ? '' : ` by ${holder}`}. Stop that, or run with SLUICE_PORT_BASE=<n> to move every port by n.`,
      );
    }
  }
  return faults;
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** `node (pid 4711)`, as far as `ss` or `lsof` tell. */
function holderOf(port: number): string | undefined {
  const fromSs = /users:\(\("([^"]+)",pid=(\d+)/.exec(run('ss', ['-Hltnp', `sport = :${port}`]));
  if (fromSs !== null) return `${fromSs[1]} (pid ${fromSs[2]})`;
  const [pid, command] = ['p', 'c'].map((letter) => new RegExp(`^${letter}(.+)$`, 'm').exec(lsof(port))?.[1]);
  return pid === undefined ? undefined : `${command ?? 'a process'} (pid ${pid})`;
}

const lsof = (port: number): string => run('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc']);

function run(command: string, args: string[]): string {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: 3_000 });
  } catch {
    return '';
  }
}
