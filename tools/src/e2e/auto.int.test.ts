import { createServer, type Server, type ServerResponse } from 'node:http';
import { portsFrom, ROUTER_SNAPSHOT_FORMAT } from '@sluice/contracts';
import { untrainedSnapshot } from '@sluice/routing';
import { eventually, freePort } from '@sluice/testing';
import { chat } from './chat.ts';
import { keyOf } from './fixture-snapshot.ts';
import { type GatewayStack, startGatewayStack } from './gateway-stack.ts';

const MODELS = ['sim-large', 'sim-medium', 'sim-small'].map((id, i) => ({ id, tier: 2 - i }));
const snapshot = (end: string) =>
  untrainedSnapshot({
    snapshotId: `01JDZZZZZZZZZZZZZZZZZZZZ${end}`,
    createdAt: '2026-06-01T00:00:00.000Z',
    models: MODELS,
  });
const event = (value: unknown): string => `event: snapshot\ndata: ${JSON.stringify(value)}\n\n`;

let stack: GatewayStack;
let port: number;
let router: Server | undefined;
let open: ServerResponse[] = [];

/** A router that does this with each connection, on the port that the gateway knows. */
async function startRouter(serve: (response: ServerResponse) => void): Promise<void> {
  router = createServer((_request, response) => {
    open.push(response);
    serve(response);
  });
  await new Promise<void>((resolve) => router?.listen(port, '127.0.0.1', resolve));
}

async function stopRouter(): Promise<void> {
  const server = router;
  router = undefined;
  open = [];
  server?.closeAllConnections();
  await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
}

const stream = (response: ServerResponse): void =>
  void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(event(snapshot('0A')));

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${portsFrom(stack.portBase).gatewayAdmin}/metrics`)).text();
  return Number(new RegExp(`^${name}(?:{[^}]*})? (\\S+)`, 'm').exec(text)?.[1]);
}

/** An `auto` call must be answered whatever the router does. */
async function ask(): Promise<string> {
  const { status, headers, text } = await chat(stack.url, { key: keyOf('acme-prod'), body: { model: 'auto' } });
  if (status !== 200 || headers.get('x-sluice-decision') === null) throw new Error(`${status} ${text}`);
  return headers.get('x-sluice-model') as string;
}

beforeAll(async () => {
  port = await freePort();
  stack = await startGatewayStack({
    workspaces: [{ tenant: 'acme', slug: 'acme-prod' }],
    env: { SLUICE_ROUTER_URL: `http://127.0.0.1:${port}`, SLUICE_TOKEN_ROUTER: 'token-of-the-router-0123456789' },
  });
});
afterAll(async () => {
  await stopRouter();
  await stack?.stop();
});

// One after the other: what happened before is what the gateway goes on with.
describe('a gateway whose router', () => {
  it('was never there answers by the default model', async () => {
    expect([await ask(), await metric('sluice_gateway_router_connected')]).toEqual(['sim-large', 0]);
    expect(await metric('sluice_gateway_decisions_total')).toBe(1);
  });

  it('comes up decides by its snapshot, among all models', async () => {
    await startRouter(stream);
    await eventually(async () => expect(await metric('sluice_gateway_router_connected')).toBe(1), {
      timeoutMs: 20_000,
    });
    const seen = new Set<string>();
    for (let i = 0; i < 60 && seen.size < 3; i += 1) seen.add(await ask());
    expect(seen.size).toBeGreaterThan(1);
  });

  it('sends garbage and a newer format goes on with what it has, and counts them', async () => {
    for (const response of open)
      response.write(
        `event: snapshot\ndata: <html>\n\n${event({ ...snapshot('0B'), format: ROUTER_SNAPSHOT_FORMAT + 1 })}`,
      );
    await eventually(async () => expect(await metric('sluice_gateway_router_snapshots_refused')).toBe(2), {
      timeoutMs: 20_000,
    });
    await ask();
    expect(await metric('sluice_gateway_decision_faults_total')).toBe(0);
  });

  it('dies, or takes connections and says nothing, answers every call at once by the last snapshot', async () => {
    await stopRouter();
    await eventually(async () => expect(await metric('sluice_gateway_router_connected')).toBe(0), {
      timeoutMs: 20_000,
    });
    await ask();
    await startRouter(() => undefined);
    await eventually(() => expect(open.length).toBeGreaterThan(0));
    await Promise.all(Array.from({ length: 10 }, ask));
    await stopRouter();
  });

  it('is dead when it boots decides by the snapshot on its disk', async () => {
    await stack.restartGateway('SIGKILL');
    const seen = new Set<string>();
    for (let i = 0; i < 60 && seen.size < 2; i += 1) seen.add(await ask());
    expect(seen.size).toBe(2);
  });
});
