import { systemClock } from '@sluice/contracts';
import { settledCall, startedCall } from '../fixtures.ts';
import { openOutbox } from './open-outbox.ts';

/** Run by the kill test: appends without end and prints each sequence once its append has resolved. */
const { outbox } = openOutbox({
  dir: process.argv[2] as string,
  gatewayId: 'gw-1',
  clock: systemClock,
  maxBytes: 1e9,
  maxAgeMs: 1e9,
  segmentBytes: 64 * 1024,
});
process.stdout.write(`unmatched-start\n`);
await outbox.appendStarted(startedCall(999_999));
for (let n = 1; ; n += 1) {
  const origins = await Promise.all([1, 2, 3].map((k) => outbox.appendSettled(settledCall(n * 10 + k))));
  process.stdout.write(`${origins.map((origin) => origin?.sequence).join('\n')}\n`);
}
