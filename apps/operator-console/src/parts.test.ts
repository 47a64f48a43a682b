import type { LedgerRow } from '@sluice/contracts';
import { compareLines } from './edit/conflict.ts';
import { withValue } from './edit/document-paths.ts';
import { spansOf } from './requests/stages.ts';
import { placeOf } from './routing/location.tsx';

describe('a place', () => {
  it('is told by the path, and an unknown one is not another page', () => {
    expect(placeOf('/_console/')).toEqual({ page: 'overview' });
    expect(placeOf('/_console')).toEqual({ page: 'overview' });
    expect(placeOf('/_console/tenants/a%2Fb')).toEqual({ page: 'tenant', id: 'a/b' });
    expect(placeOf('/_console/requests', 'tenant=acme')).toEqual({
      page: 'requests',
      tenant: 'acme',
      outcome: undefined,
    });
    expect(placeOf('/_console/requests/req_1')).toEqual({ page: 'request', id: 'req_1' });
    expect(placeOf('/_console/nothing')).toEqual({ page: 'unknown' });
    expect(placeOf('/_console/chaos/x')).toEqual({ page: 'unknown' });
    expect(placeOf('/_console/tenants/%E0%A4%A')).toEqual({ page: 'tenant', id: '%E0%A4%A' });
  });
});

describe('two documents', () => {
  it('are compared line by line: what is common stays, the rest is told by side', () => {
    expect(compareLines('a\nb\nc', 'a\nx\nc\nd').map(({ side, text }) => `${side} ${text}`)).toEqual([
      'both a',
      'theirs b',
      'mine x',
      'both c',
      'mine d',
    ]);
    expect(compareLines('a', 'a').every(({ side }) => side === 'both')).toBe(true);
  });
});

describe('a limit field', () => {
  const effective = { limits: { requests: { perSecond: 5, burst: 10 } } };
  it('brings the other values of the limit along, because a limit is replaced as a whole', () => {
    expect(withValue({}, ['limits', 'requests', 'perSecond'], '7', effective)).toEqual({
      limits: { requests: { perSecond: 7, burst: 10 } },
    });
  });
  it('that is emptied gives the whole limit back to the plan and leaves nothing empty behind', () => {
    expect(
      withValue(
        { limits: { requests: { perSecond: 7, burst: 10 } }, priority: 'low' },
        ['limits', 'requests', 'perSecond'],
        ' ',
        effective,
      ),
    ).toEqual({ priority: 'low' });
  });
  it('passes on what is not a number, so that the control plane can refuse it by name', () => {
    expect(withValue({}, ['maxPoolSharePercent'], 'much', {})).toEqual({ maxPoolSharePercent: 'much' });
  });
});

describe('the way of a request', () => {
  const attempt = { provider: 'primary', queue_ms: 0, duration_ms: 12, outcome: 'connect_error' };
  const row = {
    latency: { overhead_us: 2_000, queue_ms: 4, ttfb_ms: 320, total_ms: 1_000 },
    attempts: [
      { ...attempt, index: 0 },
      { ...attempt, index: 1, provider: 'secondary', queue_ms: 4, ttfb_ms: 300, duration_ms: 600, outcome: 'ok' },
    ],
  } as unknown as LedgerRow;

  it('is a row of spans without gaps, failed attempts told as such, and what the row does not explain is said to be so', () => {
    const spans = spansOf(row);
    expect(spans.map(({ label, kind, durationMs }) => [label, kind, Math.round(durationMs)])).toEqual([
      ['envelope to route', 'own', 2],
      ['attempt 1, primary', 'failed', 12],
      ['attempt 2, secondary: queue', 'queue', 4],
      ['attempt 2, secondary: first byte', 'wait', 300],
      ['attempt 2, secondary: answer', 'body', 300],
      ['between and after', 'own', 382],
    ]);
    for (const [i, span] of spans.entries())
      expect(span.startMs).toBeCloseTo(i === 0 ? 0 : (spans[i - 1]?.startMs ?? 0) + (spans[i - 1]?.durationMs ?? 0), 6);
  });
});
