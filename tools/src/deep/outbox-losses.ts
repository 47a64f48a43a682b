import { setTimeout as sleep } from 'node:timers/promises';
import { LOCAL_REGION } from '@sluice/contracts';
import { createSpineClients } from '@sluice/events';
import type { FullStack } from '../e2e/full-stack.ts';
import { createOutboxWorld, type OutboxWorld } from './outbox-world.ts';

/** How long each form is. */
export interface LossScale {
  readonly kills: number;
  readonly outageMs: number;
  /** Load before, in and after what is done. */
  readonly loadMs: number;
  readonly settleMs: number;
}

export const LONG: LossScale = { kills: 200, outageMs: 600_000, loadMs: 10_000, settleMs: 300_000 };
export const SHORT: LossScale = { kills: 4, outageMs: 4_000, loadMs: 1_000, settleMs: 90_000 };

export interface Loss {
  readonly name: string;
  /** Resolves with figures in words. @throws Error that says what was lost or doubled. */
  run(world: OutboxWorld, stack: FullStack, scale: LossScale, print: (line: string) => void): Promise<string>;
}

/** Progress at most this often. */
const PRINT_MS = 15_000;

const kills: Loss = {
  name: 'SIGKILL at random points under load, and while it recovers from one',
  async run(world, _stack, { kills: times, settleMs }, print) {
    let printedAt = performance.now();
    for (let n = 1; n <= times; n += 1) {
      if (n % 4 === 0) await world.dieOpening(60);
      else {
        const driver = await world.boot();
        await sleep(Math.random() * 400);
        await driver.kill();
      }
      if (performance.now() - printedAt < PRINT_MS) continue;
      printedAt = performance.now();
      print(`${n} of ${times} kills, ${world.seen.answered.size} answered, ${world.seen.interrupted} interrupted`);
    }
    const last = await world.boot();
    const figures = await world.reconcile(last, settleMs);
    await last.stop();
    if (world.seen.interrupted === 0) throw new Error('no kill met a call in its middle');
    return `${times} kills; ${figures}`;
  },
};

const outage: Loss = {
  name: 'SNS down',
  async run(world, _stack, { outageMs, loadMs, settleMs }, print) {
    const driver = await world.boot({ callMs: outageMs > 60_000 ? 50 : 10 });
    await sleep(loadMs);
    driver.command('spine down');
    for (let left = outageMs; left > 0; left -= PRINT_MS) {
      await sleep(Math.min(left, PRINT_MS));
      const { pending, bytes } = await driver.stats();
      print(`${Math.round((outageMs - left) / 1000)} s down: ${pending} records wait, ${bytes} bytes`);
    }
    driver.command('spine up');
    await sleep(loadMs);
    const figures = await world.reconcile(driver, settleMs);
    await driver.stop();
    return `down for ${outageMs / 1000} s; ${figures}`;
  },
};

const halfRefused: Loss = {
  name: 'half of each batch refused',
  async run(world, _stack, { loadMs, settleMs }) {
    const driver = await world.boot();
    driver.command('spine half');
    await sleep(3 * loadMs);
    const figures = await world.reconcile(driver, settleMs);
    await driver.stop();
    return figures;
  },
};

const diskFull: Loss = {
  name: 'the disk full',
  async run(world, _stack, { loadMs, settleMs }) {
    // Space is asked for in segments; when the disk gives none, calls go on until the rest is reserved for those
    // that run.
    const driver = await world.boot({ callMs: 2 });
    await sleep(loadMs);
    driver.command('disk full');
    await sleep(2 * loadMs);
    if (world.seen.refused === 0) throw new Error('no call was refused on a full disk');
    const atFull = world.seen.answered.size;
    driver.command('disk free');
    await sleep(2_000 + loadMs);
    if (world.seen.answered.size === atFull) throw new Error('no call was taken after the disk had space again');
    const figures = await world.reconcile(driver, settleMs);
    await driver.stop();
    return figures;
  },
};

const clockBack: Loss = {
  name: 'the clock stepping back, and a lost disk under the same gateway id',
  async run(world, _stack, { loadMs, settleMs }) {
    const first = await world.boot();
    await sleep(loadMs);
    first.command('clock -3600000');
    await sleep(loadMs);
    await first.kill();
    const second = await world.boot({ clockMs: -3_600_000 });
    if (second.epoch <= first.epoch) throw new Error(`epoch ${second.epoch} after ${first.epoch}`);
    await sleep(loadMs);
    const before = await world.reconcile(second, settleMs);
    await second.stop();
    world.loseDisk();
    const third = await world.boot();
    if (third.epoch === first.epoch || third.epoch === second.epoch) throw new Error('an epoch came twice');
    await sleep(loadMs);
    const figures = await world.reconcile(third, settleMs);
    await third.stop();
    return `${figures} (before the disk was lost: ${before})`;
  },
};

const emulatorLost: Loss = {
  name: 'the emulator restarted with its queues lost',
  async run(world, stack, { loadMs, settleMs }) {
    const driver = await world.boot();
    await sleep(loadMs);
    stack.killPart('spine');
    await sleep(loadMs);
    const figures = await world.reconcile(driver, settleMs);
    await driver.stop();
    return figures;
  },
};

async function purge(endpoint: string, queueUrl: string): Promise<void> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'AmazonSQS.PurgeQueue' },
    body: JSON.stringify({ QueueUrl: queueUrl }),
  });
  if (!response.ok) throw new Error(`the queue could not be purged: ${response.status} ${await response.text()}`);
}

const purged: Loss = {
  name: 'a queue purged',
  async run(world, stack, { loadMs, settleMs }) {
    const clients = createSpineClients({
      endpoint: stack.file.services.spine.url,
      region: LOCAL_REGION,
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
    try {
      const driver = await world.boot();
      const queueUrl = await clients.queueUrl('metering');
      // Broken for a moment, so that the queue holds something to lose.
      await stack.api('POST', '/api/chaos/consumer', {
        consumer: 'metering',
        broken: true,
        seconds: Math.ceil(loadMs / 1000),
      });
      for (let n = 0; n < 4; n += 1) {
        await sleep(loadMs / 4);
        await purge(stack.file.services.spine.url, queueUrl);
      }
      await sleep(loadMs);
      const figures = await world.reconcile(driver, settleMs);
      await driver.stop();
      return figures;
    } finally {
      clients.close();
    }
  },
};

export const OUTBOX_LOSSES: readonly Loss[] = [kills, outage, halfRefused, diskFull, clockBack, emulatorLost, purged];

/** Runs one in a world of its own. */
export async function runLoss(
  loss: Loss,
  stack: FullStack,
  scale: LossScale,
  print: (line: string) => void,
): Promise<string> {
  const world = createOutboxWorld(stack, `driver-${OUTBOX_LOSSES.indexOf(loss)}-${Math.floor(performance.now())}`);
  try {
    return await loss.run(world, stack, scale, print);
  } finally {
    await world.close();
  }
}
