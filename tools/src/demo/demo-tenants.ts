import type { Limits, Priority, Role } from '@sluice/contracts';

interface PlanNumbers {
  readonly id: string;
  readonly displayName: string;
  readonly perSecond: number;
  readonly burst: number;
  readonly inFlight: number;
  readonly queued: number;
  readonly tokensPerMinute: number;
  readonly monthlyTokens: number;
  readonly quotaMode: 'hard' | 'soft';
  readonly priority: Priority;
  readonly feeUsd: number;
  /** Dollars for a million tokens above the month's, and the hard cap of it in dollars. */
  readonly overage?: { readonly usdPerMillion: number; readonly capUsd: number };
  /** Audit records to a queue of the tenant's own. */
  readonly auditExport: boolean;
}

/** The window that counts a calendar month's tokens. */
export const MONTH_WINDOW = 'monthly-tokens';

/** The plans of the demo. */
export const DEMO_PLANS: readonly PlanNumbers[] = [
  { id: 'enterprise', displayName: 'Enterprise', perSecond: 50, burst: 100, inFlight: 100, queued: 100, tokensPerMinute: 3_000_000, monthlyTokens: 500_000_000, quotaMode: 'soft', priority: 'high', feeUsd: 2_000, overage: { usdPerMillion: 2, capUsd: 500 }, auditExport: true },
  { id: 'team', displayName: 'Team', perSecond: 20, burst: 40, inFlight: 40, queued: 40, tokensPerMinute: 600_000, monthlyTokens: 200_000_000, quotaMode: 'soft', priority: 'standard', feeUsd: 200, overage: { usdPerMillion: 3, capUsd: 100 }, auditExport: false },
  { id: 'free', displayName: 'Free', perSecond: 5, burst: 10, inFlight: 10, queued: 10, tokensPerMinute: 60_000, monthlyTokens: 20_000_000, quotaMode: 'hard', priority: 'low', feeUsd: 0, auditExport: false },
];

/** A plan's numbers as the limits of one level. */
export function planLimits(plan: PlanNumbers): Limits {
  return {
    requests: { perSecond: plan.perSecond, burst: plan.burst },
    tokens: { perMinute: plan.tokensPerMinute },
    concurrency: { inFlight: plan.inFlight, queued: plan.queued },
    quotas: [
      { id: MONTH_WINDOW, meter: 'total_tokens', span: { kind: 'calendar', period: 'month' }, limit: plan.monthlyTokens, mode: plan.quotaMode, alertAtPercent: [80, 100] },
    ],
  };
}

export const DEMO_TENANTS = [
  { id: 'acme', name: 'Acme', plan: 'enterprise' },
  { id: 'globex', name: 'Globex', plan: 'team' },
  { id: 'initech', name: 'Initech', plan: 'free' },
] as const;

/** UUIDs never change, so that what upstream providers see is the same on every machine. */
export const DEMO_WORKSPACES = [
  { slug: 'acme-prod', tenant: 'acme', uuid: 'a0c3e000-0000-4000-8000-000000000001' },
  { slug: 'acme-staging', tenant: 'acme', uuid: 'a0c3e000-0000-4000-8000-000000000002' },
  { slug: 'globex-prod', tenant: 'globex', uuid: '910be000-0000-4000-8000-000000000001' },
  { slug: 'initech-prod', tenant: 'initech', uuid: '1217ec00-0000-4000-8000-000000000001' },
] as const;

export const DEMO_USERS: readonly { readonly email: string; readonly roles: Readonly<Record<string, Role>> }[] = [
  { email: 'ada@acme.example', roles: { 'acme-prod': 'admin', 'acme-staging': 'admin' } },
  { email: 'dev@acme.example', roles: { 'acme-prod': 'viewer', 'acme-staging': 'developer' } },
  { email: 'fin@acme.example', roles: { 'acme-prod': 'finance' } },
  { email: 'gus@globex.example', roles: { 'globex-prod': 'admin' } },
  { email: 'dora@globex.example', roles: { 'globex-prod': 'developer' } },
  { email: 'ian@initech.example', roles: { 'initech-prod': 'admin' } },
];
