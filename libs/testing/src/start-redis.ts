import { spawn, type ChildProcess } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort } from './free-port.ts';

export interface RedisOptions {
  /** As a node of a cluster; the nodes still have to be told of each other. */
  readonly cluster?: boolean;
}

/** A server of a test's own: Valkey where installed, else Redis. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Ends it without warning, with all its data. */
  kill(): Promise<void>;
  /** Starts it again on the same port, empty. */
  restart(): Promise<void>;
  /** Stops its clock (SIGSTOP): connections stay open and nothing answers. */
  pause(): void;
  resume(): void;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

const READY_MS = 60_000;
/** A cluster node listens for its peers on its port plus this. */
const BUS_OFFSET = 10_000;
const HIGHEST_PORT = 65_535;

const running = new Set<ChildProcess>();
let watching = false;

/** The server program on PATH: `valkey-server` or `redis-server`. Throws when neither is there. */
export function findRedisServer(path: string = process.env['PATH'] ?? ''): string {
  for (const name of ['valkey-server', 'redis-server']) {
    for (const folder of path.split(delimiter)) {
      const file = join(folder, name);
      try {
        accessSync(file, constants.X_OK);
        return file;
      } catch {
        // The next folder may have it.
      }
    }
  }
  throw new Error(
    'neither valkey-server nor redis-server is on PATH; these tests need a real one (Debian: apt-get install redis-server)',
  );
}

/**
 * Starts a server on a free loopback port with a folder of its own, without persistence; it never outlives the process.
 *
 * @throws Error when no server program is installed, or it does not answer within 60 s.
 */
export async function startRedis({ cluster = false }: RedisOptions = {}): Promise<RedisServer> {
  const program = findRedisServer();
  let port = await freePort();
  while (cluster && port + BUS_OFFSET > HIGHEST_PORT) port = await freePort();
  const dir = mkdtempSync(join(tmpdir(), 'sluice-redis-'));
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    dir,
    '--save',
    '',
    '--appendonly',
    'no',
    '--daemonize',
    'no',
  ];
  if (cluster)
    args.push('--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf', '--cluster-node-timeout', '2000');
  let child: ChildProcess;
  let ended: Promise<void>;

  const start = async (): Promise<void> => {
    const started = spawn(program, args, { stdio: 'ignore' });
    child = started;
    killAllAtExit();
    running.add(started);
    let over = false;
    ended = new Promise((resolve) => {
      const end = (): void => {
        over = true;
        running.delete(started);
        resolve();
      };
      started.once('exit', end);
      started.once('error', end);
    });
    const deadlineMs = performance.now() + READY_MS;
    while (!(await answers(port))) {
      if (over || performance.now() > deadlineMs) throw new Error(`${program} did not answer on port ${port}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };

  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return child.pid ?? 0;
    },
    kill,
    restart: start,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async stop() {
      await kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function killAllAtExit(): void {
  if (watching) return;
  watching = true;
  process.on('exit', () => {
    for (const child of running) child.kill('SIGKILL');
  });
}

/** True when something on the port says PONG. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    const end = (answer: boolean) => (): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(5_000, end(false));
    socket.once('error', end(false));
    socket.once('data', (data) => end(data.toString().startsWith('+PONG'))());
  });
}
