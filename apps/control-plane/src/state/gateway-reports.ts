import type { Clock, GatewayReport, Outcome, SecondCounts, StateSecond } from '@sluice/contracts';

/** Seconds that are kept. */
export const SECONDS_KEPT = 120;
/** A gateway that has not reported for this long is not live. */
export const LIVE_WITHIN_MS = 3_500;
/** A clock that is off by less is taken to be right. */
const SKEW_MS = 5_000;
/** Reports of one gateway that overtake each other come closer together than this. */
const OUT_OF_ORDER_MS = 500;
/** A gateway that was not heard of for this long is forgotten. */
const FORGET_AFTER_MS = 15 * 60_000;

export interface KnownGateway {
  readonly report: GatewayReport;
  readonly receivedAtMs: number;
  readonly live: boolean;
}

/** What gateways report each second, in memory: their newest state and the last 120 seconds of every tenant. */
export interface GatewayReports {
  /**
   * Takes a report over; a second that is reported again replaces what the same run of the same gateway said
   * before.
   */
  record(report: GatewayReport): void;
  gateways(): readonly KnownGateway[];
  /** The last 120 whole seconds of a tenant over all gateways, oldest first, no gaps. */
  seconds(tenant: string): StateSecond[];
  /** The same of one workspace. */
  workspaceSeconds(workspace: string): StateSecond[];
}

interface Sum {
  outcomes: Partial<Record<Outcome, number>>;
  tokens: number;
  queueMsMax: number;
  queueMsSum: number;
  calls: number;
}

export function createGatewayReports(deps: { clock: Clock }): GatewayReports {
  const latest = new Map<string, { report: GatewayReport; receivedAtMs: number }>();
  /** second → gateway run and workspace → counts. */
  const bySecond = new Map<number, Map<string, SecondCounts>>();

  const nowSecond = (): number => Math.floor(deps.clock.now() / 1000);

  function prune(): void {
    const oldest = nowSecond() - SECONDS_KEPT;
    for (const second of bySecond.keys()) if (second < oldest) bySecond.delete(second);
    for (const [id, known] of latest) if (deps.clock.now() - known.receivedAtMs > FORGET_AFTER_MS) latest.delete(id);
  }

  function series(belongs: (counts: SecondCounts) => boolean): StateSecond[] {
    const end = nowSecond();
    return Array.from({ length: SECONDS_KEPT }, (_, i) => {
      const second = end - SECONDS_KEPT + i;
      const sum: Sum = { outcomes: {}, tokens: 0, queueMsMax: 0, queueMsSum: 0, calls: 0 };
      for (const counts of bySecond.get(second)?.values() ?? []) if (belongs(counts)) add(sum, counts);
      return {
        second,
        outcomes: sum.outcomes,
        tokens: sum.tokens,
        queue_ms_max: sum.queueMsMax,
        queue_ms_mean: sum.calls === 0 ? 0 : sum.queueMsSum / sum.calls,
      };
    });
  }

  return {
    record: (report) => {
      const known = latest.get(report.gateway_id);
      // A gateway's clock may be set back: a report is older than the one before only where both came at once.
      if (
        known === undefined ||
        report.at_ms >= known.report.at_ms ||
        deps.clock.now() - known.receivedAtMs >= OUT_OF_ORDER_MS
      )
        latest.set(report.gateway_id, { report, receivedAtMs: deps.clock.now() });
      const now = nowSecond();
      const skew = skewSeconds(report.at_ms, deps.clock.now());
      for (const counts of report.seconds) {
        const second = counts.second - skew;
        if (second > now + 1 || second < now - SECONDS_KEPT) continue;
        let cell = bySecond.get(second);
        if (cell === undefined) bySecond.set(second, (cell = new Map()));
        cell.set(`${report.gateway_id}/${report.started_at_ms}/${counts.workspace}`, counts);
      }
      prune();
    },
    gateways: () => {
      prune();
      const now = deps.clock.now();
      return [...latest.values()].map((known) => ({ ...known, live: now - known.receivedAtMs <= LIVE_WITHIN_MS }));
    },
    seconds: (tenant) => series((counts) => counts.tenant === tenant),
    workspaceSeconds: (workspace) => series((counts) => counts.workspace === workspace),
  };
}

/** How far a gateway's wall clock is from ours, whole seconds; 0 while it is what the way of a report explains. */
export function skewSeconds(reportedMs: number, nowMs: number): number {
  const offMs = reportedMs - nowMs;
  return Math.abs(offMs) < SKEW_MS ? 0 : Math.round(offMs / 1000);
}

function add(sum: Sum, counts: SecondCounts): void {
  for (const [outcome, count] of Object.entries(counts.outcomes) as [Outcome, number][]) {
    sum.outcomes[outcome] = (sum.outcomes[outcome] ?? 0) + count;
    sum.calls += count;
  }
  sum.tokens += counts.tokens;
  sum.queueMsMax = Math.max(sum.queueMsMax, counts.queue_ms_max);
  sum.queueMsSum += counts.queue_ms_sum;
}
