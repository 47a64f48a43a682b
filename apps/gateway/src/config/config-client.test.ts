import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFakeClock, eventually, type FakeClock } from '@sluice/testing';
import { snapshotFrame } from '@sluice/service-kit';
import type { CompiledConfig } from '../compiled-config.ts';
import { rawSnapshot, sampleSnapshot, type RawSnapshot } from '../testing/sample-snapshot.ts';
import { createSilentLog } from '../testing/silent-log.ts';
import { createConfigClient, type ConfigClient, type ConfigClientDeps } from './config-client.ts';

/** A control plane that streams what it is told, and remembers what was asked. */
interface Plane {
  readonly url: string;
  readonly asked: { since: string | null; token: string | undefined }[];
  send(event: string, data: unknown): void;
  /** Bytes as they are. */
  write(bytes: Buffer): void;
  /** Resolves with the next connection. */
  connection(): Promise<void>;
  cut(): void;
  /** From now on connections are answered with 409 and this; undefined lets them in again. */
  refuse(detail: string | undefined): void;
  close(): Promise<void>;
}

async function startPlane(): Promise<Plane> {
  const asked: Plane['asked'] = [];
  let refusal: string | undefined;
  let current: ServerResponse | undefined;
  let arrivals = Promise.withResolvers<void>();
  const server: Server = createServer((req: IncomingMessage, res) => {
    asked.push({
      since: new URL(req.url ?? '', 'http://x').searchParams.get('since'),
      token: req.headers.authorization,
    });
    if (refusal !== undefined) {
      res.writeHead(409, { 'content-type': 'application/problem+json' }).end(JSON.stringify({ detail: refusal }));
      return;
    }
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.flushHeaders();
    current = res;
    arrivals.resolve();
    arrivals = Promise.withResolvers<void>();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    send: (event, data) => void current?.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
    write: (bytes) => void current?.write(bytes),
    connection: () => arrivals.promise,
    cut: () => void current?.destroy(),
    refuse: (detail) => void (refusal = detail),
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}

let dataDir: string;
let plane: Plane;
let clock: FakeClock;
const clients: ConfigClient[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sluice-config-'));
  plane = await startPlane();
  clock = createFakeClock(1_000_000);
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await plane.close();
  await rm(dataDir, { recursive: true, force: true });
});

function client(more: Partial<ConfigClientDeps> = {}): { config: ConfigClient; next(): Promise<CompiledConfig> } {
  let changed = Promise.withResolvers<CompiledConfig>();
  const config = createConfigClient({
    url: plane.url,
    token: 't',
    gatewayId: 'gw-1',
    cellId: 'cell-shared-1',
    limitStore: 'memory',
    dataDir,
    clock,
    logger: createSilentLog(),
    random: () => 0,
    saveDelayMs: 1,
    onChange: (value) => {
      const told = changed;
      changed = Promise.withResolvers();
      told.resolve(value);
    },
    ...more,
  });
  clients.push(config);
  return { config, next: () => changed.promise };
}

const killAll = { id: 'k', scope: 'all', message: 'Stop.', retryAfterSeconds: 5 };
const patch = (version: number) => ({ version, changes: [{ table: 'killSwitches', id: 'k', value: killAll }] });

async function connected(raw: RawSnapshot = rawSnapshot(), more: Partial<ConfigClientDeps> = {}) {
  const { config, next } = client(more);
  const arrival = plane.connection();
  config.start();
  await arrival;
  const change = next();
  plane.send('snapshot', raw);
  await change;
  return { config, next };
}

it('a snapshot and the patches after it are in force as they come', async () => {
  const { config, next } = await connected();
  expect([config.version, config.connected, [...(config.current()?.keys.values() ?? [])].length]).toEqual([7, true, 6]);
  const change = next();
  plane.send('patch', patch(8));
  expect((await change).workspaces.get('acme-prod')?.killSwitch?.message).toBe('Stop.');
  expect(plane.asked).toEqual([{ since: '0', token: 'Bearer t' }]);
});

it('a gap in the patches is closed by asking for a whole snapshot', async () => {
  const { config, next } = await connected();
  const arrival = plane.connection();
  plane.send('patch', patch(9));
  await arrival;
  expect(plane.asked.at(-1)?.since).toBe('0');
  const change = next();
  plane.send('snapshot', { ...rawSnapshot(), version: 9 });
  await change;
  expect(config.version).toBe(9);
});

/** The frame of a snapshot that takes many reads of the socket. */
function largeFrame(version: number): Buffer {
  const snapshot = sampleSnapshot();
  const key = snapshot.keys.acmekey001 as NonNullable<(typeof snapshot.keys)[string]>;
  const keys = Array.from({ length: 5_000 }, (_, n) => ({ ...key, keyId: `samplekey${String(n).padStart(4, '0')}` }));
  return snapshotFrame({ ...snapshot, version, keys: Object.fromEntries(keys.map((row) => [row.keyId, row])) });
}

it('a snapshot that comes row by row is in force when it is complete, and other work goes on meanwhile', async () => {
  const { config, next } = await connected();
  let turns = 0;
  let timer: NodeJS.Immediate | undefined;
  const count = (): void => {
    turns += 1;
    timer = setImmediate(count);
  };
  count();
  const change = next();
  plane.write(largeFrame(12));
  const now = await change;
  clearImmediate(timer);
  expect(turns).toBeGreaterThan(5);
  expect([now.version, now.keys.get('samplekey4999')?.workspace.tenant.id, now.keys.has('globexkey01')]).toEqual([
    12,
    'acme',
    false,
  ]);
  expect(config.version).toBe(12);
});

it.each([
  ['cut short', (frame: Buffer) => frame.subarray(0, frame.length / 2), () => plane.cut(), '7'],
  [
    'damaged',
    (frame: Buffer) => Buffer.from(frame.toString().replace('"keyId":"samplekey4000"', '"keyId"')),
    () => undefined,
    '0',
  ],
  [
    'without its end',
    (frame: Buffer) => Buffer.from(frame.toString().replace('data: }\n\n', '\n\n')),
    () => undefined,
    '0',
  ],
])('nothing is in force of a snapshot that is %s; it is asked for anew', async (_how, damage, end, since) => {
  const { config, next } = await connected();
  const arrival = plane.connection();
  plane.write(damage(largeFrame(12)));
  end();
  await arrival;
  expect([
    config.version,
    config.current()?.keys.has('samplekey0000'),
    config.current()?.keys.has('globexkey01'),
  ]).toEqual([7, false, true]);
  expect(plane.asked.at(-1)?.since).toBe(since);
  const change = next();
  plane.write(largeFrame(13));
  expect((await change).keys.has('samplekey4999')).toBe(true);
});

it('a broken connection is taken up again where it stopped, and the last version serves on', async () => {
  const { config } = await connected();
  const arrival = plane.connection();
  plane.cut();
  await arrival;
  expect(config.current()?.version).toBe(7);
  expect(plane.asked.at(-1)?.since).toBe('7');
});

it('a gateway boots from its saved snapshot while the control plane is down, and says how old it is', async () => {
  const first = await connected();
  await first.config.close();
  const path = join(dataDir, 'snapshot.json');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  clock.advance(60_000);
  const second = client({ url: 'http://127.0.0.1:1' });
  second.config.start();
  expect([second.config.version, second.config.connected, second.config.ageMs]).toEqual([7, false, 60_000]);
  expect(await readFile(path, 'utf8')).not.toContain('sk-sluice-');
});

it('a configuration older than allowed is not served by', async () => {
  const { config } = await connected(rawSnapshot(), { maxAgeMs: 5_000 });
  clock.advance(5_000);
  expect(config.current()?.version).toBe(7);
  clock.advance(1);
  expect(config.current()).toBeUndefined();
});

it('a saved file that is damaged is ignored', async () => {
  await writeFile(join(dataDir, 'snapshot.json'), '{"savedAtMs":1,"snap');
  const { config } = client({ url: 'http://127.0.0.1:1' });
  config.start();
  expect(config.current()).toBeUndefined();
});

it("only this gateway's own watermarks are passed on", async () => {
  const first = Promise.withResolvers<unknown>();
  await connected(rawSnapshot(), { onWatermark: first.resolve });
  plane.send('watermark', { gateway_id: 'gw-2', epoch: 1, sequence: 99 });
  plane.send('watermark', { gateway_id: 'gw-1', epoch: 2, sequence: 5 });
  expect(await first.promise).toMatchObject({ epoch: 2, sequence: 5 });
});

it('a row that is not valid is left out and everybody else is served', async () => {
  const raw = rawSnapshot();
  raw.keys.broken = { keyId: 'x' };
  (raw.workspaces['globex-prod'] as Record<string, unknown>).tenant = 'nobody';
  const { config } = await connected(raw);
  expect([...(config.current()?.workspaces.values() ?? [])].map(({ workspace }) => workspace.slug)).toEqual([
    'acme-prod',
    'far-away',
  ]);
});

it('a gateway whose cell another one serves refuses calls, says why, and serves when the other is gone', async () => {
  const first = await connected();
  await first.config.close();
  plane.refuse('Gateway gw-0 serves cell cell-shared-1.');
  const { config } = client();
  config.start();
  await config.tried(5_000);
  expect([config.refused, config.current()]).toEqual(['Gateway gw-0 serves cell cell-shared-1.', undefined]);
  plane.refuse(undefined);
  await plane.connection();
  await eventually(() => expect(config.refused).toBeUndefined());
  expect(config.current()?.version).toBe(7);
});

it('a control plane that cannot be reached keeps nobody from serving', async () => {
  const first = await connected();
  await first.config.close();
  const { config } = client({ url: 'http://127.0.0.1:1' });
  config.start();
  await config.tried(5_000);
  expect([config.refused, config.current()?.version]).toEqual([undefined, 7]);
});
