import { applyPatch, ConfigSnapshot, systemClock, type ConfigPatch } from '@sluice/contracts';
import { manyWorkspaces } from '../testing/many-workspaces.ts';
import { startTestPlane, TEST_SETTINGS } from '../testing/start-test-plane.ts';
import { createMemoryConfigRepository } from '../config/memory-config-repository.ts';
import { seedConfig } from '../config/seed-config.ts';

/*
 * The configuration of 10,000 workspaces as gateways get it: a snapshot from the request to the parsed value, then how long a
 * change takes from its request until the last of several gateways has it.
 */
const WORKSPACES = 10_000;
const GATEWAYS = 10;
const CHANGES = 20;
const now = (): number => performance.now();
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const repository = createMemoryConfigRepository();
const seed = manyWorkspaces(WORKSPACES);
let began = now();
await seedConfig({ repository, clock: systemClock }, seed);
console.log(
  `seeded ${seed.workspaces.length} workspaces, ${seed.tenants.length} tenants, ${seed.keys.length} keys in ${(now() - began).toFixed(0)} ms`,
);
const test = await startTestPlane({ repository });

async function connect(
  gateway: string,
  since: number,
): Promise<{ next(event: string): Promise<string>; bytes(): number; end(): void }> {
  const abort = new AbortController();
  const res = await fetch(`${test.url}/internal/config/stream?gateway=${gateway}&since=${since}`, {
    headers: { authorization: `Bearer ${TEST_SETTINGS.gatewayToken}` },
    signal: abort.signal,
  });
  const reader = res.body?.getReader();
  let pieces: Buffer[] = [];
  let bytes = 0;
  return {
    bytes: () => bytes,
    end: () => abort.abort(),
    next: async (event) => {
      for (;;) {
        const last = pieces.at(-1);
        if (last !== undefined && last.includes('\n\n')) {
          const text = Buffer.concat(pieces).toString('utf8');
          const end = text.indexOf('\n\n');
          pieces = [Buffer.from(text.slice(end + 2))];
          const match = /^event: (\w+)\ndata: /.exec(text);
          if (match?.[1] === event) return text.slice(match[0].length, end).replaceAll('\ndata: ', '\n');
          continue;
        }
        const chunk = await reader?.read();
        if (chunk?.value === undefined) throw new Error('the stream ended');
        bytes += chunk.value.length;
        pieces.push(Buffer.from(chunk.value));
      }
    },
  };
}

try {
  for (const round of [1, 2, 3]) {
    began = now();
    const stream = await connect(`gw-${round}`, 0);
    const text = await stream.next('snapshot');
    const readMs = now() - began;
    const value: unknown = JSON.parse(text);
    const parsed = ConfigSnapshot.parse(value);
    console.log(
      `snapshot ${round}: ${(text.length / 1024 / 1024).toFixed(1)} MiB, read in ${readMs.toFixed(0)} ms, parsed and checked after ${(now() - began).toFixed(0)} ms (${Object.keys(parsed.workspaces).length} workspaces)`,
    );
    stream.end();
  }
  const version = test.plane.store.version;
  const gateways = await Promise.all(Array.from({ length: GATEWAYS }, (_, i) => connect(`live-${i}`, version)));
  let snapshot = test.plane.store.snapshot();
  const answered: number[] = [];
  const arrived: number[] = [];
  const cpu = process.cpuUsage();
  for (let i = 0; i < CHANGES; i += 1) {
    began = now();
    const change = test
      .call('PUT', `/api/workspaces/customer-${i}-prod/policy`, { maxPoolSharePercent: 1 + i })
      .then(() => answered.push(now() - began));
    const patches = await Promise.all(gateways.map((gateway) => gateway.next('patch')));
    arrived.push(now() - began);
    await change;
    snapshot = applyPatch(snapshot, JSON.parse(patches[0] ?? '') as ConfigPatch);
  }
  const { user, system } = process.cpuUsage(cpu);
  console.log(
    `CPU of a change, the gateways' part in this process included: ${((user + system) / 1000 / CHANGES).toFixed(0)} ms`,
  );
  console.log(
    `a change at ${GATEWAYS} gateways: median ${median(arrived).toFixed(0)} ms, slowest ${Math.max(...arrived).toFixed(0)} ms from its request to the last one`,
  );
  for (const gateway of gateways) gateway.end();
} finally {
  await test.close();
}
