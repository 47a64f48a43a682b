import { createFakeClock } from '@sluice/testing';
import { createLineLog } from '@sluice/service-kit';
import type { Call } from '../call.ts';
import type { CallEnd } from './call-end.ts';
import { createCallReport } from './call-report.ts';

const CALL = {
  id: 'req_1',
  clientRequestId: 'mine "quoted"',
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  operation: 'chat',
  started: true,
  attempts: [{}],
  timing: { startedAt: 0, queueMs: 1.26, upstreamWaitMs: 0, bodyReadMs: 0, firstByteAt: 3 },
  key: { record: { keyId: 'key00001' }, workspace: { tenant: { id: 'acme' }, workspace: { slug: 'acme-prod' } } },
  resolved: { inbound: { stream: false }, candidates: [{ id: 'sim-small' }] },
  view: { quotas: [{ limit: 100, used: 40 }] },
  answer: { attempt: { model: 'sim-small', provider: { id: 'primary' } } },
};
const END = {
  outcome: 'ok',
  status: 200,
  totalMs: 12.34,
  figures: { usage: { input: 3, cache_read: 0, cache_write: 0, output: 4, reasoning: 0, audio: 0 }, billedNanoUsd: 5 },
};

function lineOf(call: object, end: object): unknown {
  const clock = createFakeClock(5_000);
  const written: string[] = [];
  const log = createLineLog({
    service: 'gateway',
    level: 'info',
    destination: { write: (text) => void written.push(text) },
  });
  const nothing = (): void => undefined;
  const report = createCallReport({
    clock,
    log,
    counters: { record: nothing, takeFinished: () => [] },
    providers: { record: nothing },
    anomalies: {
      record: nothing,
      flush: () => Promise.resolve(),
      dropped: 0,
      start: nothing,
      close: () => Promise.resolve(),
    },
    usageAlerts: () => undefined,
    quotaAlerts: nothing,
    metrics: {
      record: nothing,
      recordEarlyRefusal: nothing,
      recordRefusedConnection: nothing,
      recordBodyJob: nothing,
      recordLostWorker: nothing,
    },
  });
  report(call as Call, end as CallEnd);
  log.flush();
  return JSON.parse(written.join(''));
}

it('the line of a call tells who called what, who answered, how it ended and what it cost', () => {
  expect(lineOf(CALL, END)).toEqual({
    level: 'info',
    time: '1970-01-01T00:00:05.000Z',
    service: 'gateway',
    msg: 'call',
    request_id: 'req_1',
    client_request_id: 'mine "quoted"',
    traceparent: CALL.traceparent,
    tenant: 'acme',
    workspace: 'acme-prod',
    key_id: 'key00001',
    operation: 'chat',
    stream: false,
    model: 'sim-small',
    provider: 'primary',
    outcome: 'ok',
    status: 200,
    attempts: 1,
    tokens: 7,
    billed_nanousd: 5,
    quota_remaining: 60,
    queue_ms: 1.3,
    overhead_us: 1740,
    total_ms: 12.3,
  });
});

it('the line of a call that was refused before its key was known holds what is known', () => {
  const refused = {
    ...CALL,
    key: undefined,
    resolved: undefined,
    answer: undefined,
    view: undefined,
    clientRequestId: undefined,
    started: false,
    attempts: [],
    refusal: { code: 'throttled', limit: { level: 'key', name: 'requests' } },
  };
  expect(lineOf(refused, { outcome: 'throttled', status: 429, totalMs: 1, figures: undefined })).toEqual({
    level: 'info',
    time: '1970-01-01T00:00:05.000Z',
    service: 'gateway',
    msg: 'call',
    request_id: 'req_1',
    traceparent: CALL.traceparent,
    operation: 'chat',
    outcome: 'throttled',
    status: 429,
    refusal: 'throttled',
    limit: { level: 'key', name: 'requests' },
    attempts: 0,
    queue_ms: 1.3,
    overhead_us: 1740,
    total_ms: 1,
  });
});

it('the line of a call whose client did not take its answer says why the connection was cut', () => {
  expect(lineOf({ ...CALL, cutFor: 'tenant_unread' }, END)).toMatchObject({
    outcome: 'ok',
    billed_nanousd: 5,
    cut: 'tenant_unread',
  });
});
