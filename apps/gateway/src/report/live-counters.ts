import type { Clock, Outcome, SecondCounts } from '@sluice/contracts';

/** One call that ended. */
export interface EndedCall {
  readonly workspace: string;
  readonly tenant: string;
  readonly outcome: Outcome;
  /** Tokens settled. */
  readonly tokens: number;
  readonly queueMs: number;
}

/** Counts of each second at each workspace, for the live picture. Exact figures come from the ledger. */
export interface LiveCounters {
  record(call: EndedCall): void;
  /** Seconds that are over, oldest first; each is given once. */
  takeFinished(): SecondCounts[];
}

/** Seconds that nobody took are kept this long, then dropped. */
const KEEP_SECONDS = 15;

export function createLiveCounters({ clock }: { clock: Clock }): LiveCounters {
  const seconds = new Map<number, Map<string, SecondCounts>>();

  function rowOf(call: EndedCall): SecondCounts {
    const second = Math.floor(clock.now() / 1000);
    let rows = seconds.get(second);
    if (rows === undefined) {
      rows = new Map();
      seconds.set(second, rows);
      for (const old of seconds.keys()) if (old < second - KEEP_SECONDS) seconds.delete(old);
    }
    let row = rows.get(call.workspace);
    if (row === undefined) {
      row = {
        second,
        workspace: call.workspace,
        tenant: call.tenant,
        outcomes: {},
        tokens: 0,
        queue_ms_max: 0,
        queue_ms_sum: 0,
      };
      rows.set(call.workspace, row);
    }
    return row;
  }

  return {
    record(call) {
      const row = rowOf(call);
      row.outcomes[call.outcome] = (row.outcomes[call.outcome] ?? 0) + 1;
      row.tokens += call.tokens;
      row.queue_ms_sum += call.queueMs;
      if (call.queueMs > row.queue_ms_max) row.queue_ms_max = call.queueMs;
    },
    takeFinished() {
      const now = Math.floor(clock.now() / 1000);
      const out: SecondCounts[] = [];
      for (const [second, rows] of seconds) {
        if (second >= now) continue;
        out.push(...rows.values());
        seconds.delete(second);
      }
      return out.sort((a, b) => a.second - b.second);
    },
  };
}
