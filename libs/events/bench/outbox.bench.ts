import { mkdtempSync, openSync, closeSync, rmSync, write } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { systemClock, type CallSettled, type CallStarted, type EventOrigin } from '@sluice/contracts';
import { openOutbox } from '../src/index.ts';
import { settledCall, startedCall } from '../src/fixtures.ts';

/**
 * What each request costs on disk and before its last byte, beside a bare asynchronous write of the same records as
 * lines of JSON.
 */
const ROUNDS = 7;
const CALLS = 20_000;
/** Paced, as requests arrive: what a call waits for its record. */
const PACED_PER_S = 5_000;
const PACED_CALLS = 15_000;

interface Target {
  readonly name: string;
  open(dir: string): {
    call(n: number): Promise<void>;
    settle(n: number): Promise<unknown>;
    bytes(): number;
    close(): Promise<void>;
  };
}

/** Made beforehand, because making them is the gateway's part; more than are under way at once. */
const READY = 4_096;
const SHARED = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  model_requested: 'sim-large',
  feature: 'chat',
  tags: {},
  provider: 'primary',
  model: 'sim-large',
};
const PRICE = { input_picousd: 3_000_000, output_picousd: 15_000_000 };
const usageOf = (n: number): CallSettled['usage'] => ({
  input: 118 + (n % 7),
  output: 247 - (n % 50),
  cache_read: 0,
  cache_write: 0,
  reasoning: 0,
  audio: 0,
});
const occurredAt = (n: number): string => new Date(1_700_000_000_000 + n).toISOString();
const starts = Array.from({ length: READY }, (_, n): CallStarted => ({
  ...startedCall(n),
  ...SHARED,
  occurred_at: occurredAt(n),
  reservation: { input_tokens: 120, output_tokens: 250, cost_nanousd: 4_110_000 },
  billed_price: PRICE,
  provider_price: PRICE,
}));
const ends = Array.from({ length: READY }, (_, n): Omit<CallSettled, keyof EventOrigin> => ({
  ...settledCall(n),
  ...SHARED,
  occurred_at: occurredAt(n),
  usage: usageOf(n),
  cost_nanousd: 4_059_000 + n,
  billed_nanousd: 4_059_000 + n,
  estimate: { input_tokens: 120, output_tokens: 250 },
  finish_reason: 'stop',
  latency: { overhead_us: 210 + (n % 40), queue_ms: 0, ttfb_ms: 612 + (n % 9), total_ms: 1_213 + (n % 100) },
  attempts: [
    {
      index: 0,
      provider: 'primary',
      credential: 'primary-main',
      model: 'sim-large',
      provider_model: 'sim-large',
      outcome: 'ok',
      status: 200,
      usage: usageOf(n),
      usage_source: 'provider',
      cost_nanousd: 4_059_000,
      queue_ms: 0,
      ttfb_ms: 611,
      duration_ms: 1_210,
    },
  ],
}));
const startOf = (n: number): CallStarted => starts[n % READY] as CallStarted;
const endOf = (n: number): Omit<CallSettled, keyof EventOrigin> =>
  ends[n % READY] as Omit<CallSettled, keyof EventOrigin>;
const line = (record: object): Buffer => Buffer.from(`${JSON.stringify(record)}\n`);

const bare: Target = {
  name: 'a bare fs.write a record',
  open(dir) {
    const fd = openSync(join(dir, 'bare.log'), 'w');
    let at = 0;
    const append = (bytes: Buffer): Promise<void> => {
      const position = at;
      at += bytes.length;
      return new Promise((resolve, reject) =>
        write(fd, bytes, 0, bytes.length, position, (error) => (error === null ? resolve() : reject(error))),
      );
    };
    return {
      call: async (n) => {
        await append(line(startOf(n)));
        await append(line(endOf(n)));
      },
      settle: (n) => append(line(endOf(n))),
      bytes: () => at,
      close: async () => closeSync(fd),
    };
  },
};

const outboxWith = (name: string, fsyncIntervalMs: number): Target => ({
  name,
  open(dir) {
    const { outbox } = openOutbox({
      dir,
      gatewayId: 'bench',
      clock: systemClock,
      maxBytes: 1e10,
      maxAgeMs: 1e9,
      tenantShare: 0.5,
      fsyncIntervalMs,
    });
    return {
      call: async (n) => {
        const start = startOf(n);
        outbox.accepting(start.tenant_id);
        await outbox.appendStarted(start);
        await outbox.appendSettled(endOf(n));
      },
      settle: (n) => outbox.appendSettled(endOf(n)),
      bytes: () => outbox.stats.bytes,
      close: () => outbox.close(),
    };
  },
});

async function inFolder<T>(target: Target, body: (opened: ReturnType<Target['open']>) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'outbox-bench-'));
  const opened = target.open(dir);
  try {
    return await body(opened);
  } finally {
    await opened.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

/**
 * CPU of the whole process (user and system, all threads) for start and end of a call, microseconds, 64 calls at
 * once; and their bytes.
 */
function cost(target: Target, calls: number): Promise<[number, number]> {
  return inFolder(target, async (opened) => {
    const before = process.cpuUsage();
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < calls) await opened.call((next += 1));
    };
    await Promise.all(Array.from({ length: 64 }, worker));
    const { user, system } = process.cpuUsage(before);
    return [(user + system) / calls, opened.bytes() / calls];
  });
}

/** The wait for an end's record, milliseconds, at a steady pace: the 50th and the 99th percentile. */
function wait(target: Target): Promise<[number, number]> {
  return inFolder(target, async (opened) => {
    const waits: number[] = [];
    const began = performance.now();
    const running: Promise<void>[] = [];
    for (let sent = 0; sent < PACED_CALLS;) {
      const due = Math.min(PACED_CALLS, Math.floor(((performance.now() - began) / 1000) * PACED_PER_S));
      for (; sent < due; sent += 1) {
        const at = performance.now();
        running.push(opened.settle(sent).then(() => void waits.push(performance.now() - at)));
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(running);
    waits.sort((a, b) => a - b);
    return [waits[Math.floor(waits.length / 2)] ?? NaN, waits[Math.floor(waits.length * 0.99)] ?? NaN];
  });
}

const spread = (values: number[], digits: number): string => {
  values.sort((a, b) => a - b);
  return [values[values.length >> 1], values[0], values.at(-1)]
    .map((value) => (value ?? NaN).toFixed(digits).padStart(7))
    .join(' /');
};

const targets = [bare, outboxWith('the outbox, forced each 100 ms', 100)];
const always = outboxWith('the outbox, forced always', 0);
console.log(
  `Two records of a call, one attempt in it. Median / min / max of ${ROUNDS} interleaved rounds after one to warm up.`,
);
for (const target of targets) await cost(target, CALLS);
const costs = new Map(targets.map((target) => [target, [] as [number, number][]]));
const waits = new Map([...targets, always].map((target) => [target, [] as [number, number][]]));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const target of targets) costs.get(target)?.push(await cost(target, CALLS));
}
for (let round = 0; round < 3; round += 1) for (const [target, found] of waits) found.push(await wait(target));
for (const [{ name }, found] of costs)
  console.log(
    `${name.padEnd(34)} CPU µs a call       ${spread(
      found.map(([us]) => us),
      1,
    )}  for ${Math.round(found[0]?.[1] ?? NaN)} bytes`,
  );
for (const [{ name }, found] of waits) {
  console.log(
    `${name.padEnd(34)} wait p50 ms         ${spread(
      found.map(([p50]) => p50),
      3,
    )}  at ${PACED_PER_S} calls/s, 3 rounds`,
  );
  console.log(
    `${name.padEnd(34)} wait p99 ms         ${spread(
      found.map(([, p99]) => p99),
      3,
    )}`,
  );
}
