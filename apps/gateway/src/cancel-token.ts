/** Why a call was given up before its end. */
export type CancelReason = 'client_closed' | 'caller_deadline' | 'slow_reader' | 'total_deadline' | 'draining';

/**
 * Tells everyone who works for a call that it was given up. Lighter than an `AbortController`, which costs more
 * than the whole admission; one is made only for those who need a real signal.
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
  return new Token();
}

type Listener = (reason: CancelReason) => void;

const NOTHING_TO_LEAVE = (): void => undefined;

/** A class, so that its functions are made once and not per call. */
class Token implements CancelToken {
  #reason: CancelReason | undefined;
  #listeners: Listener[] | undefined;
  #controller: AbortController | undefined;

  get reason(): CancelReason | undefined {
    return this.#reason;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  cancel(reason: CancelReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
    const told = this.#listeners;
    this.#listeners = undefined;
    for (const listener of told ?? []) listener(reason);
  }

  onCancel(listener: Listener): () => void {
    if (this.#reason !== undefined) {
      listener(this.#reason);
      return NOTHING_TO_LEAVE;
    }
    (this.#listeners ??= []).push(listener);
    return () => this.#leave(listener);
  }

  #leave(listener: Listener): void {
    const at = this.#listeners?.indexOf(listener) ?? -1;
    if (at >= 0) this.#listeners?.splice(at, 1);
  }
}
