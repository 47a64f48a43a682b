import type { AlertKind, ApiKeyRecord, ConfigSnapshot, KillSwitch, Plan, Tenant, Workspace } from '@sluice/contracts';
import { mergePolicy, mergeTenantLimits, OVERAGE_WINDOW, type QuotaWindow } from '@sluice/contracts';
import { concerns } from '../tenant/overview.ts';
import { windowSpan } from '../tenant/quota-gauges.ts';

const DAY_MS = 86_400_000;
const KEY_EXPIRES_WITHIN_MS = 7 * DAY_MS;
const MODEL_RETIRES_WITHIN_MS = 30 * DAY_MS;
/** Refusals within `REFUSALS_WITHIN_MS` from which on a workspace is told. */
export const REFUSALS_FROM = 20;
export const REFUSALS_WITHIN_MS = 60_000;

/** Something that a workspace is told of as long as it lasts. */
export interface Condition {
  readonly kind: AlertKind;
  readonly severity: 'info' | 'warning' | 'critical';
  readonly subject: string;
  /** For people, without amounts of money: whoever may read alerts may not be one to read cost. */
  readonly message: string;
  /** The same text for as long as it is the same case; a new window or another expiry is another case. */
  readonly dedupe: string;
}

/** A window of a level with what is used of it. */
export interface UsedWindow {
  readonly level: 'tenant' | 'workspace';
  readonly window: QuotaWindow;
  readonly used: number;
}

/** What windows have to tell: a threshold passed, or little left with more than half of the time to go. */
export function quotaConditions(windows: readonly UsedWindow[], timeZone: string, nowMs: number): Condition[] {
  return windows.flatMap(({ level, window, used }) => {
    if (window.limit === 0) return [];
    const percent = Math.floor((used / window.limit) * 100);
    const { fromMs, resetMs } = windowSpan(window, timeZone, nowMs);
    // A rolling window never ends: it is one case until it is below its threshold again.
    const id = `${level}/${window.id}/${resetMs === undefined ? 'rolling' : fromMs}`;
    const whose = level === 'tenant' ? 'your company’s quota' : 'the quota';
    const cap = window.id === OVERAGE_WINDOW;
    const out: Condition[] = [];
    const tell = (kind: AlertKind, severity: Condition['severity'], message: string): void =>
      void out.push({ kind, severity, subject: `${level} ${window.id}`, message, dedupe: `${kind}/${id}` });
    const early = Math.min(...window.alertAtPercent.filter((threshold) => threshold < 100));
    if (percent >= 100) {
      const then =
        window.mode === 'hard'
          ? 'Further calls are refused until it resets.'
          : 'Calls go on; what is above is overage.';
      tell(cap ? 'overage_cap.100' : 'budget.100', 'critical', `All of ${whose} ${window.id} is used. ${then}`);
    }
    if (percent >= early)
      tell(cap ? 'overage_cap.80' : 'budget.80', 'warning', `${early} % of ${whose} ${window.id} is used.`);
    if (!cap && resetMs !== undefined && percent > 80 && percent < 100 && nowMs - fromMs < (resetMs - fromMs) / 2) {
      tell(
        'quota.low',
        'warning',
        `Less than 20 % of ${whose} ${window.id} is left, with more than half of the time to go.`,
      );
    }
    return out;
  });
}

/**
 * What the configuration has to tell a workspace.
 *
 * @param keys of the workspace; not looked for here, because a round over all workspaces would read all keys for each.
 * @param versionOf row version of a kill switch.
 */
export function configConditions(
  snapshot: ConfigSnapshot,
  workspace: Workspace,
  plan: Plan,
  keys: readonly ApiKeyRecord[],
  nowMs: number,
  versionOf: (killSwitch: string) => number,
): Condition[] {
  const policy = mergePolicy(plan.policy, workspace.override);
  const models = Object.values(snapshot.models).filter(({ id }) => policy.routing.allowModels?.includes(id) ?? true);
  return [
    ...Object.values(snapshot.killSwitches)
      .filter((killSwitch) => concerns(killSwitch, workspace.slug, policy))
      .map((killSwitch) => switchedOff(killSwitch, versionOf(killSwitch.id))),
    ...keys.flatMap((key): Condition[] => {
      const left = key.expiresAt === undefined ? Infinity : Date.parse(key.expiresAt) - nowMs;
      if (left <= 0 || left > KEY_EXPIRES_WITHIN_MS) return [];
      return [
        {
          kind: 'key.expiring',
          severity: 'warning',
          subject: key.name,
          message: `The API key "${key.name}" expires at ${key.expiresAt}.`,
          dedupe: `key.expiring/${key.keyId}/${key.expiresAt}`,
        },
      ];
    }),
    ...models.flatMap(({ id, retirement }): Condition[] => {
      const left = retirement === undefined ? Infinity : Date.parse(retirement.at) - nowMs;
      if (retirement === undefined || left <= 0 || left > MODEL_RETIRES_WITHIN_MS) return [];
      const successor = retirement.successor === undefined ? '' : ` Its successor is ${retirement.successor}.`;
      return [
        {
          kind: 'model.retiring',
          severity: 'warning',
          subject: id,
          message: `The model ${id} is retired at ${retirement.at}.${successor}`,
          dedupe: `model.retiring/${id}/${retirement.at}`,
        },
      ];
    }),
  ];
}

function switchedOff({ id, scope, target, message }: KillSwitch, version: number): Condition {
  return {
    kind: 'kill_switch',
    severity: 'critical',
    subject: target === undefined ? scope : `${scope} ${target}`,
    message: `Switched off by the operator: ${message}`,
    // Switched on again is another case.
    dedupe: `kill_switch/${id}/${version}`,
  };
}

export interface RecentRefusals {
  readonly kind: 'refusals.throttled' | 'refusals.shed' | 'refusals.quota';
  readonly subject: string;
  readonly count: number;
}

const REFUSED_WORD = {
  'refusals.throttled': 'throttled',
  'refusals.shed': 'turned away because too many were in progress',
  'refusals.quota': 'refused because a quota is used up',
} as const;

/** Refusals of the last minute, where they are many; one case an hour. */
export function refusalConditions(refusals: readonly RecentRefusals[], nowMs: number): Condition[] {
  const hour = Math.floor(nowMs / 3_600_000);
  return refusals
    .filter(({ count }) => count >= REFUSALS_FROM)
    .map(({ kind, subject, count }) => ({
      kind,
      severity: 'warning' as const,
      subject,
      message: `${count} requests were ${REFUSED_WORD[kind]} within a minute (${subject}).`,
      dedupe: `${kind}/${subject}/${hour}`,
    }));
}

/** The tenant's and the workspace's windows. */
export function windowsOf(tenant: Tenant, workspace: Workspace, plan: Plan): Omit<UsedWindow, 'used'>[] {
  return [
    ...mergeTenantLimits(plan, tenant).quotas.map((window) => ({ level: 'tenant' as const, window })),
    ...mergePolicy(plan.policy, workspace.override).limits.quotas.map((window) => ({
      level: 'workspace' as const,
      window,
    })),
  ];
}
