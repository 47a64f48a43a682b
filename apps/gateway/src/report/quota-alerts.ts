import type { LimitsView, QuotaView } from '@sluice/contracts';
import type { FoundAnomaly } from './publish-anomaly.ts';

/** Below this share of the threshold that was told last, a window may warn again: it has begun anew or slid on. */
const FORGET_BELOW = 0.9;
/** Windows that are remembered; beyond it the oldest is forgotten, and may warn once more. */
const MAX_WINDOWS = 100_000;

/** Whose call it was that met the window. */
export interface AlertSubject {
  readonly requestId: string;
  readonly tenant: string;
  readonly workspace: string;
}

/**
 * Tells once when the use of a quota window, with what running calls have reserved, reaches one of its `alertAtPercent`
 * thresholds: `quota.warning` below 100 %, `quota.exhausted` from there on.
 */
export function createQuotaAlerts(
  publish: (anomaly: FoundAnomaly) => void,
): (view: LimitsView, subject: AlertSubject) => void {
  /** The highest threshold that was told, by window. */
  const told = new Map<string, number>();

  return (view, subject) => {
    for (const quota of view.quotas) {
      const percent = quota.limit === 0 ? 100 : (quota.used / quota.limit) * 100;
      const reached = highestReached(quota.alertAtPercent, percent);
      if (reached === 0 && told.size === 0) continue;
      const key = `${quota.level}:${quota.id}:${quota.window}`;
      const last = told.get(key) ?? 0;
      if (reached > last) {
        if (last === 0 && told.size >= MAX_WINDOWS) told.delete(told.keys().next().value as string);
        told.set(key, reached);
        publish(anomalyOf(quota, Math.floor(percent), subject));
      } else if (last > 0 && percent < last * FORGET_BELOW) {
        if (reached === 0) told.delete(key);
        else told.set(key, reached);
      }
    }
  };
}

function highestReached(thresholds: readonly number[], percent: number): number {
  let reached = 0;
  for (const threshold of thresholds) if (percent >= threshold && threshold > reached) reached = threshold;
  return reached;
}

function anomalyOf(quota: QuotaView, percent: number, { requestId, tenant, workspace }: AlertSubject): FoundAnomaly {
  const owner =
    quota.level === 'tenant'
      ? `Tenant ${tenant}`
      : quota.level === 'workspace'
        ? `Workspace ${workspace}`
        : `A key of workspace ${workspace}`;
  const what = `quota '${quota.window}' (${amount(quota.used, quota)} of ${amount(quota.limit, quota)})`;
  const exhausted = percent >= 100;
  const consequence = quota.mode === 'hard' ? 'further calls are refused' : 'it is a soft limit, so calls go on';
  return {
    type: exhausted ? 'quota.exhausted' : 'quota.warning',
    level: quota.level,
    tenant_id: tenant,
    ...(quota.level === 'tenant' ? {} : { workspace }),
    subject: `${quota.level}/${quota.window}`,
    message: exhausted
      ? `${owner} has used up its ${what}; ${consequence}.`
      : `${owner} has used ${percent} % of its ${what}.`,
    samples: [requestId],
  };
}

function amount(value: number, { meter }: QuotaView): string {
  return meter === 'cost_nanousd'
    ? `$${(value / 1e9).toFixed(2)}`
    : `${value.toLocaleString('en-US')} ${meter.replace('_', ' ')}`;
}
