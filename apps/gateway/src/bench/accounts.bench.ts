import { performance } from 'node:perf_hooks';
import { systemClock } from '@sluice/contracts';
import { createSlotPool } from '@sluice/limits';
import { createAccount } from '@sluice/resilience';
import { AccountRates } from '../upstream/account-rates.ts';

const OPERATIONS = 300_000;
const ROUNDS = 9;
const WARM_UP = 3;
const tenants = Array.from({ length: 100 }, (_, n) => `tenant-${n}`);
const models = ['large', 'medium', 'small'];

/** Runs `work` several times and prints nanoseconds per operation. */
function measure(name: string, work: (tenant: string, model: string) => void): void {
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS + WARM_UP; round += 1) {
    const start = performance.now();
    for (let i = 0; i < OPERATIONS; i += 1) work(tenants[i % 100] as string, models[i % 3] as string);
    if (round >= WARM_UP) rounds.push(((performance.now() - start) * 1e6) / OPERATIONS);
  }
  rounds.sort((a, b) => a - b);
  const of = (value: number | undefined): string => (value ?? NaN).toFixed(0).padStart(5);
  console.log(
    `${name.padEnd(62)} min ${of(rounds[0])}  median ${of(rounds[ROUNDS >> 1])}  max ${of(rounds.at(-1))} ns/call  (${ROUNDS} rounds)`,
  );
}

/** The least that an account can remember: one state for everybody and when it served last. */
const forAll = { ok: true, servedAtMs: 0 };
measure('one state for all tenants: leave and success', () => {
  if (forAll.ok) forAll.servedAtMs = systemClock.monotonic();
});

const calm = createAccount({ clock: systemClock });
measure('account by tenant and model, nothing rests: leave and success', (tenant, model) => {
  const use = calm.restMs(tenant, model) === 0 ? calm.tryUse(tenant, model) : undefined;
  if (use !== undefined) calm.served(use);
});

const resting = createAccount({ clock: systemClock });
const first = resting.tryUse('noisy', 'large');
if (first !== undefined) resting.refused(first, 403);
measure('the same while one tenant is refused on one model', (tenant, model) => {
  const use = resting.restMs(tenant, model) === 0 ? resting.tryUse(tenant, model) : undefined;
  if (use !== undefined) resting.served(use);
});

const slot = (model: string, tenantId: string) =>
  ({ tenantId, workspaceId: 'w', priority: 'standard', model, costTokens: 386, timeoutMs: 0 }) as const;
const plain = createSlotPool({ slots: 200, clock: systemClock });
measure('slot, no rate', (tenant, model) => {
  const lease = plain.acquire(slot(model, tenant));
  if (!(lease instanceof Promise)) lease.release();
});
const rates = new AccountRates({ id: 'a', slots: 200, weight: 1 }, systemClock);
const gated = createSlotPool({ slots: 200, clock: systemClock, gate: rates });
measure('slot and success of an account whose rate nobody knows', (tenant, model) => {
  const lease = gated.acquire(slot(model, tenant));
  rates.served(model);
  if (!(lease instanceof Promise)) lease.release();
});
const known = new AccountRates({ id: 'a', slots: 200, weight: 1, requestsPerMinute: 1_000_000_000 }, systemClock);
const limited = createSlotPool({ slots: 200, clock: systemClock, gate: known });
measure('slot and success of an account with a rate', (tenant, model) => {
  const lease = limited.acquire(slot(model, tenant));
  known.served(model);
  if (!(lease instanceof Promise)) lease.release();
});

const heapBefore = heapUsed();
const many = createAccount({ clock: systemClock, maxTenants: 100_000 });
for (let n = 0; n < 50_000; n += 1) {
  const use = many.tryUse(`tenant-${n}`, 'large');
  if (use !== undefined) many.served(use);
}
if (globalThis.gc !== undefined)
  console.log(
    `${'memory of one tenant on one model'.padEnd(62)} ${Math.round((heapUsed() - heapBefore) / 50_000)} bytes`,
  );
if (many.state.kind !== 'ok') throw new Error('an account that serves is well');

function heapUsed(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
