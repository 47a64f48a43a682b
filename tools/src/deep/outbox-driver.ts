import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock, type EventPublisher } from '@sluice/contracts';
import { createOutboxPublisher, createSnsPublisher, createSpineClients, nodeFiles, openOutbox } from '@sluice/events';
import { createIds } from '@sluice/service-kit';
import { drivenEnd, drivenStart } from './outbox-calls.ts';
import { followWatermarks } from './outbox-watermarks.ts';

/**
 * The metering of a gateway without its HTTP side and its provider, in a process of its own that can be killed:
 * real outbox, real publisher, real acknowledgements. Settings as JSON in the first argument, commands on stdin,
 * one line of what happened on stdout: `opening` before it looks at its disk, `answered <request id>` once the
 * call's end is recorded, as a gateway sends the last byte only then.
 */
export interface DriverSettings {
  readonly dir: string;
  readonly gatewayId: string;
  readonly spineUrl: string;
  readonly region: string;
  readonly controlPlaneUrl: string;
  readonly token: string;
  /** Added to the wall clock. */
  readonly clockMs: number;
  /** Calls at once. */
  readonly calls: number;
  /** Mean of a call's length, milliseconds. */
  readonly callMs: number;
  readonly segmentBytes: number;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as DriverSettings;
let clockMs = settings.clockMs;
let spine: 'up' | 'down' | 'half' = 'up';
let diskFull = false;
let running = true;

const clock = { now: () => Date.now() + clockMs, monotonic: systemClock.monotonic };
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const noSpace = (): void => {
  if (diskFull) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
};
say('opening');
const { outbox, unmatched } = openOutbox({
  dir: settings.dir,
  gatewayId: settings.gatewayId,
  clock,
  maxBytes: 1e9,
  maxAgeMs: 1e9,
  segmentBytes: settings.segmentBytes,
  files: {
    ...nodeFiles,
    allocate: async (path, bytes) => (noSpace(), nodeFiles.allocate(path, bytes)),
    allocateNow: (path, bytes) => (noSpace(), nodeFiles.allocateNow(path, bytes)),
  },
});
const clients = createSpineClients({
  endpoint: settings.spineUrl,
  region: settings.region,
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
});
const sns = createSnsPublisher({ spine: clients });
/** An outage or a topic that refuses half of each batch, as the publisher meets it. */
const publisher: EventPublisher = {
  async publish(events) {
    if (spine === 'down') return events.map((event) => event.id);
    const refused = spine === 'half' ? events.filter((_, index) => index % 2 === 1).map((event) => event.id) : [];
    return [...refused, ...(await sns.publish(events.filter((event) => !refused.includes(event.id))))];
  },
  close: () => sns.close(),
};
const watermarks = followWatermarks({
  ...settings,
  onWatermark: ({ epoch, sequence }) => outbox.acknowledge(epoch, sequence),
});
const outboxPublisher = createOutboxPublisher({
  outbox,
  publisher,
  clock,
  republishAfterMs: 5_000,
  ledgerConnected: () => watermarks.connected,
});

for (const { request_id } of unmatched) await outbox.appendSettled(drivenEnd(request_id, clock.now(), 'interrupted'));
outboxPublisher.start();
say(`ready ${outbox.epoch} ${unmatched.length}`);

const ids = createIds({ clock });
const drive = async (): Promise<void> => {
  while (running) {
    await sleep(Math.random() * 2 * settings.callMs);
    if (!outbox.accepting()) {
      say('refused');
      await sleep(50);
      continue;
    }
    const requestId = ids.requestId();
    try {
      await outbox.appendStarted(drivenStart(requestId, clock.now()));
      await sleep(Math.random() * 2 * settings.callMs);
      await outbox.appendSettled(drivenEnd(requestId, clock.now(), 'ok'));
      say(`answered ${requestId}`);
    } catch (error) {
      say(`failed ${String(error)}`);
    }
  }
};
const driving = Array.from({ length: settings.calls }, drive);

createInterface({ input: process.stdin }).on('line', (line) => {
  const [command, value] = line.split(' ');
  if (command === 'spine') spine = value as typeof spine;
  else if (command === 'disk') diskFull = value === 'full';
  else if (command === 'clock') clockMs = Number(value);
  else if (command === 'rest') running = false;
  else if (command === 'stats') say(`stats ${JSON.stringify(outbox.stats)}`);
  else if (command === 'stop') void stop();
});

async function stop(): Promise<void> {
  running = false;
  await Promise.all(driving);
  await outboxPublisher.stop();
  await watermarks.close();
  await outbox.close();
  await publisher.close();
  clients.close();
  process.exit(0);
}
