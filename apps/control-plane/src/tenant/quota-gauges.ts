import type { OverviewView, QuotaWindow, Tenant, Workspace, Policy } from '@sluice/contracts';
import { calendarOf } from '@sluice/limits';
import type { MeterSums } from './figures-reader.ts';

type Gauge = OverviewView['quotas'][number];

/** Span of time that a window counts now, epoch milliseconds; `resetMs` undefined where it empties step by step. */
export function windowSpan(
  window: QuotaWindow,
  timeZone: string,
  nowMs: number,
): { fromMs: number; resetMs: number | undefined } {
  if (window.span.kind === 'rolling') return { fromMs: nowMs - window.span.seconds * 1000, resetMs: undefined };
  const period = calendarOf(window.span.timeZone ?? timeZone, window.span.period).periodAt(nowMs);
  return { fromMs: period.startMs, resetMs: period.endMs };
}

/**
 * How full each window of tenant and workspace is by the ledger. Windows that count the same span are asked for
 * once.
 */
export async function quotaGauges(deps: {
  tenant: Tenant;
  workspace: Workspace;
  policy: Policy;
  nowMs: number;
  cost: boolean;
  read: (scope: { tenant?: string; workspace?: string }, fromMs: number, toMs: number) => Promise<MeterSums>;
}): Promise<Gauge[]> {
  const { tenant, workspace, policy, nowMs, cost } = deps;
  const asked = new Map<string, Promise<MeterSums>>();
  const gauge = async (level: Gauge['level'], window: QuotaWindow): Promise<Gauge> => {
    const { fromMs, resetMs } = windowSpan(window, tenant.timeZone, nowMs);
    const id = `${level} ${fromMs}`;
    const sums =
      asked.get(id) ??
      deps.read(level === 'tenant' ? { tenant: tenant.id } : { workspace: workspace.slug }, fromMs, nowMs + 1);
    asked.set(id, sums);
    return {
      id: window.id,
      level,
      meter: window.meter,
      span: spanInWords(window),
      mode: window.mode,
      limit: window.limit,
      used: (await sums)[window.meter],
      resets_at: resetMs === undefined ? null : new Date(resetMs).toISOString(),
    };
  };
  const seen = (window: QuotaWindow): boolean => cost || window.meter !== 'cost_nanousd';
  return Promise.all([
    ...tenant.limits.quotas.filter(seen).map((window) => gauge('tenant', window)),
    ...policy.limits.quotas.filter(seen).map((window) => gauge('workspace', window)),
  ]);
}

export function spanInWords({ span }: QuotaWindow): string {
  return span.kind === 'calendar' ? `calendar ${span.period}` : `rolling ${span.seconds} s`;
}
