import { Limits, Policy, PolicyOverride } from './policy.ts';
import { mergePolicy } from './merge-policy.ts';

const plan = Policy.parse({
  limits: { requests: { perSecond: 5, burst: 10 }, concurrency: { inFlight: 10, queued: 10 } },
  routing: { chain: [{ provider: 'primary' }] },
});

function pathsOf(value: unknown): string[] {
  const result = Limits.safeParse(value);
  return result.success ? [] : result.error.issues.map((issue) => issue.path.join('.'));
}

describe('a policy that cannot be is refused with the path of its field', () => {
  it.each([
    ['a negative rate', { requests: { perSecond: -1, burst: 1 } }, 'requests.perSecond'],
    ['a burst below 1', { requests: { perSecond: 1, burst: 0 } }, 'requests.burst'],
    ['more queued than in flight', { concurrency: { inFlight: 5, queued: 6 } }, 'concurrency.queued'],
    [
      'a quota without a window',
      { quotas: [{ id: 'q', meter: 'total_tokens', limit: 1, mode: 'hard' }] },
      'quotas.0.span',
    ],
    [
      'an unknown time zone',
      {
        quotas: [
          {
            id: 'q',
            meter: 'total_tokens',
            limit: 1,
            mode: 'hard',
            span: { kind: 'calendar', period: 'day', timeZone: 'Mars/Olympus' },
          },
        ],
      },
      'quotas.0.span.timeZone',
    ],
    [
      'fewer than 12 steps',
      {
        quotas: [
          {
            id: 'q',
            meter: 'total_tokens',
            limit: 1,
            mode: 'hard',
            span: { kind: 'rolling', seconds: 3600, steps: 6 },
          },
        ],
      },
      'quotas.0.span.steps',
    ],
    [
      'a soft window that refuses',
      {
        quotas: [
          {
            id: 'q',
            meter: 'total_tokens',
            limit: 1,
            mode: 'soft',
            refuseAtPercent: 90,
            span: { kind: 'calendar', period: 'day' },
          },
        ],
      },
      'quotas.0.refuseAtPercent',
    ],
    ['a field nobody knows', { request: {} }, ''],
  ])('%s', (_name, value, path) => {
    expect(pathsOf(value)).toContain(path);
  });

  it('both a rate per second and one per minute', () => {
    expect(Limits.safeParse({ requests: { perSecond: 1, perMinute: 1, burst: 1 } }).success).toBe(false);
  });
});

describe('a workspace overrides single fields of its plan', () => {
  it("what it does not name stays the plan's", () => {
    const merged = mergePolicy(plan, { priority: 'high', limits: { requests: { perSecond: 1, burst: 1 } } });
    expect(merged.priority).toBe('high');
    expect(merged.limits.requests).toEqual({ perSecond: 1, burst: 1 });
    expect(merged.limits.concurrency).toEqual({ inFlight: 10, queued: 10 });
    expect(merged.routing).toEqual(plan.routing);
  });

  it("parsing an override brings no defaults that would replace the plan's own values", () => {
    const enterprise = Policy.parse({ ...plan, priority: 'high', routing: { ...plan.routing, learned: true } });
    expect(PolicyOverride.parse({ routing: {}, limits: {} })).toEqual({ routing: {}, limits: {} });
    expect(mergePolicy(enterprise, PolicyOverride.parse({ routing: {} }))).toEqual(enterprise);
  });

  it('an impossible combination is refused, not clamped', () => {
    expect(() => mergePolicy(plan, { limits: { concurrency: { inFlight: 1, queued: 2 } } })).toThrow();
  });
});
