import type { CancelToken } from '../../cancel-token.ts';

/** What may begin in one turn of the event loop, in units: a small call is one and takes about 0.2 ms. */
const UNITS_PER_TURN = 16;
/** A body counts for one unit more per so many bytes. */
const BYTES_PER_UNIT = 8 * 1024;
/** As long as nobody waits, so many units may begin in this time, and nobody has to watch the loop's turns. */
const WINDOW_MS = 10;

/**
 * Spaces out how calls begin. Hundreds of requests may be readable in one turn of the event loop, and each takes as
 * long to begin as several chunks of a running stream take to forward; begun all at once they would hold up every
 * stream for a tenth of a second. So a turn begins a few, and the others wait for the next turns, one of each
 * tenant in rotation: a tenant's burst stands behind itself and not before others.
 */
export interface StartTurns {
  /**
   * Waits for the call's turn; undefined when it may go on at once. Also resolves when the call is given up.
   *
   * @param bytes of the body that will be parsed.
   * @param nowMs monotonic.
   */
  turn(tenantId: string, bytes: number, nowMs: number, cancel: CancelToken): Promise<void> | undefined;
  /** Calls that wait. */
  readonly waiting: number;
}

export interface StartTurnsOptions {
  readonly unitsPerTurn?: number;
  /** Calls back in the loop's next turn, after the input and output that is ready by then. */
  readonly onNextTurn?: (callback: () => void) => void;
}

interface WaitingCall {
  readonly units: number;
  readonly go: () => void;
}

export function createStartTurns({
  unitsPerTurn = UNITS_PER_TURN,
  onNextTurn = setImmediate,
}: StartTurnsOptions = {}): StartTurns {
  /** Calls by tenant in the order in which they came; the tenant that is served becomes the last. */
  const tenants = new Map<string, Set<WaitingCall>>();
  let waiting = 0;
  let windowStart = -Infinity;
  let begun = 0;
  let watching = false;

  function add(tenantId: string, call: WaitingCall): void {
    const calls = tenants.get(tenantId);
    if (calls === undefined) tenants.set(tenantId, new Set([call]));
    else calls.add(call);
    waiting += 1;
    watch();
  }

  function remove(tenantId: string, call: WaitingCall): void {
    const calls = tenants.get(tenantId);
    if (calls?.delete(call) !== true) return;
    waiting -= 1;
    if (calls.size === 0) tenants.delete(tenantId);
  }

  function watch(): void {
    if (watching || waiting === 0) return;
    watching = true;
    onNextTurn(beginSome);
  }

  function beginSome(): void {
    watching = false;
    begun = 0;
    // A tenant that is put back at the end is met again by the same walk.
    for (const [tenantId, calls] of tenants) {
      const [call] = calls;
      if (call === undefined) continue;
      remove(tenantId, call);
      if (tenants.delete(tenantId)) tenants.set(tenantId, calls);
      begun += call.units;
      call.go();
      if (begun >= unitsPerTurn) break;
    }
    watch();
  }

  return {
    get waiting() {
      return waiting;
    },
    turn(tenantId, bytes, nowMs, cancel) {
      const units = 1 + Math.floor(bytes / BYTES_PER_UNIT);
      if (waiting === 0) {
        if (nowMs - windowStart >= WINDOW_MS) {
          windowStart = nowMs;
          begun = 0;
        }
        if (begun < unitsPerTurn) {
          begun += units;
          return undefined;
        }
      }
      return new Promise((resolve) => {
        let unsubscribe: () => void = () => undefined;
        const call: WaitingCall = {
          units,
          go() {
            unsubscribe();
            resolve();
          },
        };
        add(tenantId, call);
        unsubscribe = cancel.onCancel(() => {
          remove(tenantId, call);
          resolve();
        });
      });
    },
  };
}
