import { createHealthAnomalies, type HealthFigures } from './health-anomalies.ts';

const WELL: HealthFigures = {
  gatewayId: 'gw-1',
  outboxOldestAgeMs: 200,
  outboxPending: 3,
  outboxAccepting: true,
  configAgeMs: 900,
};

it.each([
  [
    'outbox.ageing',
    { outboxOldestAgeMs: 61_000 },
    '3 records of gateway gw-1 wait for the ledger, the oldest for 61 s.',
  ],
  ['outbox.full', { outboxAccepting: false }, 'The outbox of gateway gw-1 is full'],
  ['snapshot.ageing', { configAgeMs: 31_000 }, 'a configuration that is 31 s old'],
])('%s is told once, and again only after it was gone', (type, wrong, message) => {
  const published: { type: string; message: string }[] = [];
  const look = createHealthAnomalies((anomaly) => published.push(anomaly));
  for (const figures of [WELL, { ...WELL, ...wrong }, { ...WELL, ...wrong }]) look(figures);
  expect(published).toEqual([expect.objectContaining({ type, message: expect.stringContaining(message) })]);
  for (const figures of [WELL, { ...WELL, ...wrong }]) look(figures);
  expect(published).toHaveLength(2);
});
