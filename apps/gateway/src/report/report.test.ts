import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Anomaly, type EventPublisher, type GatewayReport, type OutgoingEvent } from '@sluice/contracts';
import { createFakeClock } from '@sluice/testing';
import { createSilentLog } from '../testing/silent-log.ts';
import { createLiveCounters } from './live-counters.ts';
import { createRefusalAnomalies } from './refusal-anomalies.ts';
import { createReporter } from './reporter.ts';

const ENDED = { workspace: 'acme-prod', tenant: 'acme', outcome: 'ok', tokens: 10, queueMs: 2 } as const;

it('a second is given once, when it is over', () => {
  const clock = createFakeClock(5_000);
  const counters = createLiveCounters({ clock });
  counters.record(ENDED);
  counters.record({ ...ENDED, outcome: 'shed', tokens: 0, queueMs: 7 });
  expect(counters.takeFinished()).toEqual([]);
  clock.advance(1_000);
  expect(counters.takeFinished()).toEqual([
    {
      second: 5,
      workspace: 'acme-prod',
      tenant: 'acme',
      outcomes: { ok: 1, shed: 1 },
      tokens: 10,
      queue_ms_max: 7,
      queue_ms_sum: 9,
    },
  ]);
  expect(counters.takeFinished()).toEqual([]);
});

it('seconds that were not delivered are sent again', async () => {
  const reports: GatewayReport[] = [];
  let status = 503;
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk: Buffer) => (body += chunk.toString()));
    req.on('end', () => {
      reports.push(JSON.parse(body) as GatewayReport);
      res.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const clock = createFakeClock(5_000);
  const counters = createLiveCounters({ clock });
  const reporter = createReporter({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: 't',
    clock,
    logger: createSilentLog(),
    counters,
    describe: () => ({ gateway_id: 'gw-1' }) as Omit<GatewayReport, 'seconds'>,
  });
  counters.record(ENDED);
  clock.advance(1_000);
  await reporter.send();
  status = 204;
  await reporter.send();
  await reporter.send();
  expect(reports.map((report) => report.seconds.map((row) => row.second))).toEqual([[5], [5], []]);
  await reporter.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const REFUSED = {
  outcome: 'throttled',
  requestId: 'req_1',
  tenant: 'acme',
  workspace: 'acme-prod',
  limit: { level: 'workspace', name: 'requests' },
} as const;

function recordingPublisher(fails = false): EventPublisher & { readonly sent: OutgoingEvent[] } {
  const sent: OutgoingEvent[] = [];
  return {
    sent,
    publish(events) {
      if (fails) return Promise.reject(new Error('down'));
      sent.push(...events);
      return Promise.resolve([]);
    },
    close: () => Promise.resolve(),
  };
}

it('a thousand refusals of one second are one anomaly with their count and a few samples', async () => {
  const clock = createFakeClock(5_000);
  const publisher = recordingPublisher();
  const anomalies = createRefusalAnomalies({ gatewayId: 'gw-1', cellId: 'cell-shared-1', publisher, clock });
  for (let i = 0; i < 1_000; i += 1) anomalies.record(REFUSED);
  anomalies.record({ ...REFUSED, outcome: 'ok' });
  await anomalies.flush();
  expect(publisher.sent).toEqual([]);
  clock.advance(1_000);
  await anomalies.flush();
  await anomalies.flush();
  expect(publisher.sent.map((event) => [event.topic, event.attributes])).toEqual([
    ['anomaly-events', { type: 'refusals.throttled', tenant_id: 'acme' }],
  ]);
  const event = Anomaly.parse(JSON.parse(publisher.sent[0]?.body ?? ''));
  expect([event.count, event.subject, event.samples.length, event.occurred_at]).toEqual([
    1_000,
    'workspace requests',
    5,
    '1970-01-01T00:00:05.000Z',
  ]);
});

it('a spine that is down costs anomalies, never calls', async () => {
  const clock = createFakeClock(5_000);
  const anomalies = createRefusalAnomalies({
    gatewayId: 'gw-1',
    cellId: 'cell-shared-1',
    publisher: recordingPublisher(true),
    clock,
  });
  anomalies.record(REFUSED);
  clock.advance(1_000);
  await anomalies.flush();
  expect(anomalies.dropped).toBe(1);
});
