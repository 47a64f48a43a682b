import type { ServerResponse } from 'node:http';
import type { Dialect } from './dialect.ts';
import type { SimCall } from './sim-call.ts';

/** Where an answer breaks off: after so many tokens, by a closed connection (`cut`) or by silence (`stall`). */
export interface BreakOff {
  readonly how: 'cut' | 'stall';
  readonly after: number;
}

export interface PlayOptions {
  readonly res: ServerResponse;
  readonly dialect: Dialect;
  readonly call: SimCall;
  /** Before the first byte, on top of the model's own time. */
  readonly latencyMs: number;
  readonly breakOff: BreakOff | undefined;
  /** Called just before a `cut` closes the connection. */
  readonly onCut: () => void;
}

export interface Playing {
  /** Output tokens generated until now, of all choices. */
  generated(): number;
  /** Stops the timers; nothing more is sent. */
  stop(): void;
}

/** setTimeout counts whole milliseconds and may fire that much early. */
const EARLY_MS = 1;

/**
 * Sends an answer at its model's speed: token `i` at `ttft + i * chunk`, the end at `ttft + tokens * chunk`; a whole
 * answer all at the end. Without any delay everything goes out in one write and no timer is made.
 */
export function playAnswer({ res, dialect, call, latencyMs, breakOff, onCut }: PlayOptions): Playing {
  const total = call.pieces.length;
  const last = breakOff === undefined ? total : Math.min(breakOff.after, total);
  const ttftMs = call.ttftMs + latencyMs;
  const endMs = ttftMs + last * call.chunkMs;
  const immediate = endMs === 0;
  const startMs = immediate ? 0 : performance.now();
  const elapsed = (): number => (immediate ? 0 : performance.now() - startMs + EARLY_MS);
  let timer: NodeJS.Timeout | undefined;
  let opened = false;
  let sent = 0;

  function dueAt(ms: number): number {
    if (ms < ttftMs) return 0;
    return call.chunkMs === 0 ? last : Math.min(last, Math.floor((ms - ttftMs) / call.chunkMs) + 1);
  }

  function wait(untilMs: number, then: () => void): void {
    timer = setTimeout(then, Math.max(0, Math.ceil(untilMs - (performance.now() - startMs))));
  }

  function breakHere(text: string): void {
    res.write(text, () => {
      if (breakOff?.how !== 'cut') return;
      onCut();
      res.destroy();
    });
  }

  function sendWhole(): void {
    sent = last;
    const body = dialect.whole(call);
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    if (breakOff === undefined) res.end(body);
    else breakHere(body.slice(0, Math.floor(body.length / 2)));
  }

  function tick(): void {
    const ms = elapsed();
    let text = '';
    if (!opened) {
      opened = true;
      res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
      text = dialect.opening(call);
    }
    for (const due = dueAt(ms); sent < due; sent++) text += dialect.chunk(call, sent);
    if (sent >= last && breakOff !== undefined) return breakHere(text);
    if (sent >= last && ms >= endMs) {
      res.end(text + dialect.closing(call));
      return;
    }
    if (text !== '') res.write(text);
    wait(ttftMs + sent * call.chunkMs, tick);
  }

  if (call.stream) {
    if (immediate || ttftMs === 0) tick();
    else wait(ttftMs, tick);
  } else if (immediate) sendWhole();
  else wait(endMs, sendWhole);

  return {
    generated: () => (call.stream || sent === last ? sent : dueAt(elapsed())) * call.choices,
    stop: () => clearTimeout(timer),
  };
}
