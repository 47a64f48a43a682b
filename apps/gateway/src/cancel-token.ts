/** Why a call was given up before its end. */
export type CancelReason = 'client_closed' | 'caller_deadline' | 'slow_reader' | 'total_deadline' | 'draining';

/**
 * Tells everyone who works for a call that it was given up. Lighter than an `AbortController`, which costs more than the
 * whole admission; one is made only for those who need a real signal.
 */
export interface CancelToken {
  readonly reason: CancelReason | undefined;
  /** First reason wins; later ones change nothing. */
  cancel(reason: CancelReason): void;
  /** Calls back once, at once when already cancelled; returns how to unsubscribe. */
  onCancel(listener: (reason: CancelReason) => void): () => void;
  /** A real signal, made on first use. */
  readonly signal: AbortSignal;
}

export function createCancelToken(): CancelToken {
  let reason: CancelReason | undefined;
  let listeners: Set<(reason: CancelReason) => void> | undefined;
  let controller: AbortController | undefined;
  return {
    get reason() {
      return reason;
    },
    get signal() {
      if (controller === undefined) {
        controller = new AbortController();
        if (reason !== undefined) controller.abort(reason);
      }
      return controller.signal;
    },
    cancel(why) {
      if (reason !== undefined) return;
      reason = why;
      controller?.abort(why);
      const told = listeners;
      listeners = undefined;
      for (const listener of told ?? []) listener(why);
    },
    onCancel(listener) {
      if (reason !== undefined) {
        listener(reason);
        return () => undefined;
      }
      listeners ??= new Set();
      listeners.add(listener);
      return () => listeners?.delete(listener);
    },
  };
}
