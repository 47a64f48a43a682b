import { ROUTER_SNAPSHOT_FORMAT } from '@sluice/contracts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFakeClock, eventually } from '@sluice/testing';
import { learnedSnapshot } from '../testing/learned-snapshot.ts';
import { createSilentLog } from '../testing/silent-log.ts';
import { createSnapshotClient, type SnapshotClient } from './snapshot-client.ts';

const TOKEN = 'token-of-the-router';
const event = (value: unknown): string => `event: snapshot\ndata: ${JSON.stringify(value)}\n\n`;
const named = (id: string) => learnedSnapshot({ snapshot_id: `01JDZZZZZZZZZZZZZZZZZZZZ${id}` });

let dir: string;
let server: Server;
let url: string;
let answers: ServerResponse[];
let tokens: (string | undefined)[];
let serve: (response: ServerResponse) => void;
let clients: SnapshotClient[];

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-router-'));
  answers = [];
  tokens = [];
  clients = [];
  serve = (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(event(named('0A')));
  server = createServer((request, response) => {
    answers.push(response);
    tokens.push(request.url === '/internal/snapshots' ? request.headers.authorization : undefined);
    serve(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(dir, { recursive: true, force: true });
});

function start(more: { url?: string | null; silenceMs?: number } = {}) {
  const clock = createFakeClock(1_700_000_000_000);
  const logger = createSilentLog();
  const router = more.url === null ? undefined : { url: more.url ?? url, token: TOKEN };
  const client = createSnapshotClient({
    router,
    dataDir: dir,
    clock,
    logger,
    firstRetryMs: 1,
    random: () => 0,
    ...(more.silenceMs === undefined ? {} : { silenceMs: more.silenceMs }),
  });
  clients.push(client);
  client.start();
  const id = () => client.current()?.snapshot.snapshot_id.slice(-2);
  return { client, clock, logger, id };
}

it('follows the router with its token, takes each new snapshot, and tells its age', async () => {
  const { client, clock, id } = start();
  expect([client.current(), client.ageMs]).toEqual([undefined, 0]);
  await eventually(() => expect(id()).toBe('0A'));
  expect([tokens, client.connected]).toEqual([[`Bearer ${TOKEN}`], true]);
  clock.advance(5_000);
  expect(client.ageMs).toBe(5_000);
  answers[0]?.write(event(named('0B')));
  await eventually(() => expect(id()).toBe('0B'));
  expect(client.ageMs).toBe(0);
});

it('that is dead at boot leaves the saved snapshot in force at once, and nothing where none was saved', async () => {
  const before = start();
  await eventually(() => expect(before.id()).toBe('0A'));
  await before.client.close();
  const after = start({ url: 'http://127.0.0.1:1' });
  expect([after.id(), after.client.connected]).toEqual(['0A', false]);
  await after.client.close();
  rmSync(join(dir, 'router-snapshot.json'));
  expect(start({ url: 'http://127.0.0.1:1' }).client.current()).toBeUndefined();
  expect(start({ url: null }).client.current()).toBeUndefined();
});

it('that dies on its way is followed again, with the last snapshot in force meanwhile', async () => {
  const { client, id } = start();
  await eventually(() => expect(id()).toBe('0A'));
  serve = (response) => void response.destroy();
  answers[0]?.destroy();
  await eventually(() => expect(answers.length).toBeGreaterThan(2));
  expect([id(), client.connected]).toEqual(['0A', false]);
  serve = (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(event(named('0C')));
  await eventually(() => expect(id()).toBe('0C'));
});

it('that hangs is given up and asked again', async () => {
  serve = () => undefined;
  const { client } = start({ silenceMs: 50 });
  await eventually(() => expect(answers.length).toBeGreaterThan(1));
  expect([client.current(), client.connected]).toEqual([undefined, false]);
});

it.each([
  [
    'of a newer format',
    event({ ...named('0X'), format: ROUTER_SNAPSHOT_FORMAT + 1 }),
    new RegExp(`format ${ROUTER_SNAPSHOT_FORMAT + 1}; this version reads up to ${ROUTER_SNAPSHOT_FORMAT}`),
  ],
  ['that is none', event({ hello: 1 }), /not a router snapshot/],
  ['that is no JSON', 'event: snapshot\ndata: {{{\n\n', /JSON/],
  [
    'whose arms do not fit',
    event({
      ...named('0X'),
      control: { ...named('0X').control, arms: [{ model: 'x', theta: [1], inverse: [[1]], n: 0 }] },
    }),
    /dimensions/,
  ],
])(
  'a snapshot %s is refused, counted and logged, and the last one stays in force and on disk',
  async (_what, bytes, reason) => {
    const { client, logger, id } = start();
    await eventually(() => expect(id()).toBe('0A'));
    answers[0]?.write(bytes);
    await eventually(() => expect(client.refused).toBe(1));
    expect(id()).toBe('0A');
    expect(logger.lines.find(({ level }) => level === 'error')?.fields).toMatchObject({
      reason: expect.stringMatching(reason),
      serving: named('0A').snapshot_id,
    });
    answers[0]?.write(event(named('0D')));
    await eventually(() => expect(id()).toBe('0D'));
    await client.close();
    expect(start({ url: null }).id()).toBe('0D');
  },
);

it.each([
  [
    'a page of something else',
    (response: ServerResponse) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
  ],
  ['a refusal', (response: ServerResponse) => void response.writeHead(401).end()],
])('an answer that is %s changes nothing', async (_what, script) => {
  serve = script;
  const { client } = start();
  await eventually(() => expect(answers.length).toBeGreaterThan(1));
  expect([client.current(), client.connected]).toEqual([undefined, false]);
});

it('a saved file that cannot be read is ignored', () => {
  writeFileSync(join(dir, 'router-snapshot.json'), '{"savedAtMs":1,"snapshot":{"format":9}}');
  const { client, logger } = start({ url: null });
  expect(client.current()).toBeUndefined();
  expect(logger.lines[0]).toMatchObject({ level: 'warn', fields: { reason: expect.stringContaining('format 9') } });
});
