import type { SimCalls, SimStats } from '@sluice/contracts';
import { createCallLog } from './call-log.ts';
import type { SimCall } from './sim-call.ts';

const MARKERS_MAX = 10_000;
type Row = SimStats['by_model'][string];

export type Ending = 'completed' | 'cancelled' | 'failed' | 'refused';

export interface CallRecord {
  /** The call was understood; from here its model is known. */
  know(call: SimCall): void;
  /** The call took a slot and its input counts. */
  begin(): void;
  /** Counts the end once; later ends change nothing. `output`: tokens generated until then. */
  end(ending: Ending, output: number): void;
}

export interface Stats {
  arrive(marker: string | undefined, requestId?: string): CallRecord;
  readonly inFlight: number;
  snapshot(): SimStats;
  /** Ended calls after one of that number, oldest first. */
  calls(after: number): SimCalls;
  /** Zero again; calls in flight stay in flight but count in nothing else. */
  reset(): void;
}

function fresh(provider: string, inFlight: number): SimStats {
  return {
    provider,
    calls: 0,
    completed: 0,
    cancelled: 0,
    failed: 0,
    in_flight: inFlight,
    max_in_flight: inFlight,
    tokens: { input: 0, cache_read: 0, output: 0 },
    partial_tokens: { input: 0, output: 0 },
    by_model: {},
    by_tenant_marker: {},
  };
}

/**
 * The provider's own count. Token classes are disjoint: `tokens.input` excludes cached ones; the rows' `input`
 * holds both.
 */
export function createStats(provider: string): Stats {
  let state = fresh(provider, 0);
  let log = createCallLog();

  function rowOf(rows: Record<string, Row>, key: string): Row | undefined {
    if (Object.hasOwn(rows, key)) return rows[key];
    if (Object.keys(rows).length >= MARKERS_MAX) return undefined;
    const row = { calls: 0, completed: 0, input: 0, output: 0 };
    Object.defineProperty(rows, key, { value: row, enumerable: true, configurable: true, writable: true });
    return row;
  }

  function arrive(marker: string | undefined, requestId?: string): CallRecord {
    const mine = state;
    const myLog = log;
    mine.calls++;
    const rows: Row[] = [];
    let known: SimCall | undefined;
    let begun = false;
    let ended = false;
    function addRow(row: Row | undefined): void {
      if (row === undefined) return;
      row.calls++;
      rows.push(row);
    }
    if (marker !== undefined) addRow(rowOf(mine.by_tenant_marker, marker.slice(0, 200)));

    return {
      know(call) {
        known = call;
        addRow(rowOf(mine.by_model, call.model));
      },
      begin() {
        begun = true;
        state.in_flight++;
        if (state.in_flight > state.max_in_flight) state.max_in_flight = state.in_flight;
      },
      end(ending, output) {
        if (ended) return;
        ended = true;
        if (begun) state.in_flight--;
        const input = begun && known !== undefined ? known.inputTokens - known.cachedTokens : 0;
        const cached = begun && known !== undefined ? known.cachedTokens : 0;
        myLog.add({
          request_id: requestId ?? null,
          model: known?.model ?? null,
          ending,
          tokens: { input, cache_read: cached, output: begun ? output : 0 },
        });
        if (ending === 'refused') return;
        mine[ending]++;
        if (known === undefined) return;
        if (ending !== 'completed') {
          if (begun) mine.partial_tokens.input += known.inputTokens;
          mine.partial_tokens.output += output;
          return;
        }
        mine.tokens.input += known.inputTokens - known.cachedTokens;
        mine.tokens.cache_read += known.cachedTokens;
        mine.tokens.output += output;
        for (const row of rows) {
          row.completed++;
          row.input += known.inputTokens;
          row.output += output;
        }
      },
    };
  }

  return {
    arrive,
    get inFlight() {
      return state.in_flight;
    },
    snapshot: () => structuredClone(state),
    calls: (after) => log.after(after),
    reset() {
      state = fresh(provider, state.in_flight);
      log = createCallLog();
    },
  };
}
