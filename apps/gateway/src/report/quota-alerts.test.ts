import type { LimitsView, QuotaView } from '@sluice/contracts';
import type { FoundAnomaly } from './publish-anomaly.ts';
import { createQuotaAlerts } from './quota-alerts.ts';

const SUBJECT = { requestId: 'req_1', tenant: 'acme', workspace: 'acme-prod' };
const viewOf = (used: number, more: Partial<QuotaView> = {}): LimitsView => ({
  requests: undefined,
  tokens: undefined,
  inFlight: 0,
  queued: 0,
  quotas: [
    {
      level: 'workspace',
      id: 'u',
      window: 'month',
      meter: 'total_tokens',
      limit: 1000,
      used,
      mode: 'soft',
      resetAtMs: 0,
      alertAtPercent: [80, 100],
      ...more,
    },
  ],
});

function alerts() {
  const published: FoundAnomaly[] = [];
  const tell = createQuotaAlerts((anomaly) => published.push(anomaly));
  return { published, tell: (used: number, more?: Partial<QuotaView>) => tell(viewOf(used, more), SUBJECT) };
}

describe('alerts of a quota', () => {
  it('tell each threshold once, with whose it is and how much is used', () => {
    const { published, tell } = alerts();
    for (const used of [100, 799, 800, 850, 999, 1000, 1200]) tell(used);
    expect(published.map(({ type, subject, message, samples }) => ({ type, subject, message, samples }))).toEqual([
      {
        type: 'quota.warning',
        subject: 'workspace/month',
        message: "Workspace acme-prod has used 80 % of its quota 'month' (800 total tokens of 1,000 total tokens).",
        samples: ['req_1'],
      },
      {
        type: 'quota.exhausted',
        subject: 'workspace/month',
        message:
          "Workspace acme-prod has used up its quota 'month' (1,000 total tokens of 1,000 total tokens); it is a soft limit, so calls go on.",
        samples: ['req_1'],
      },
    ]);
  });

  it('begin anew with a new window, and do not flutter at a threshold', () => {
    const { published, tell } = alerts();
    for (const used of [810, 790, 805, 10, 810]) tell(used);
    expect(published).toHaveLength(2);
  });

  it('follow the thresholds of the policy, and none where it has none', () => {
    const { published, tell } = alerts();
    tell(600, { alertAtPercent: [50] });
    tell(1000, { alertAtPercent: [], window: 'other' });
    expect(published).toHaveLength(1);
  });

  it('keep windows of the same name at other levels apart, and name no key', () => {
    const { published, tell } = alerts();
    tell(900);
    tell(900, { level: 'key', id: 'k1' });
    tell(900, { level: 'tenant', id: 'acme', meter: 'cost_nanousd', limit: 1000 });
    expect(published.map((anomaly) => anomaly.message.split(' has')[0])).toEqual([
      'Workspace acme-prod',
      'A key of workspace acme-prod',
      'Tenant acme',
    ]);
  });
});
