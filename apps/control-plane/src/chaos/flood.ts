import { Agent, request } from 'node:http';

export interface FloodOptions {
  /** Base URL of a gateway, `http:`. */
  readonly gatewayUrl: string;
  /** API key of the workspace that floods. */
  readonly key: string;
  readonly rps: number;
}

export interface FloodCounts {
  readonly sent: number;
  /** Answers by status; `0` counts connections that failed. */
  readonly statuses: Readonly<Record<number, number>>;
}

export interface Flood {
  stop(): void;
  readonly counts: FloodCounts;
}

/** Requests are sent in small groups, this often. */
const TICK_MS = 50;
/** Open calls at most, so that a gateway that hangs does not take this process with it. */
const MAX_OPEN = 2_000;
/** Answer sizes in turn: most are short, some so long that they hold their slot for seconds. */
const OUTPUT_TOKENS = [20, 20, 400, 20, 20, 20, 400, 20, 20, 1000] as const;

/** Sends chat calls at a steady rate, open loop: it does not slow down when answers do. Runs until stopped. */
export function startFlood(options: FloodOptions): Flood {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_OPEN });
  const url = new URL('/v1/chat/completions', options.gatewayUrl);
  const statuses: Record<number, number> = {};
  let sent = 0;
  let open = 0;
  let stopped = false;
  let due = 0;
  let lastMs = performance.now();

  function count(status: number): void {
    statuses[status] = (statuses[status] ?? 0) + 1;
  }

  function send(): void {
    const body = JSON.stringify({
      model: 'sim-small',
      messages: [{ role: 'user', content: `Import row ${sent}.` }],
      sim: { output_tokens: OUTPUT_TOKENS[sent % OUTPUT_TOKENS.length] },
    });
    sent += 1;
    open += 1;
    const call = request(url, {
      agent,
      method: 'POST',
      headers: {
        authorization: `Bearer ${options.key}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      },
    });
    call.on('response', (res) => {
      count(res.statusCode ?? 0);
      res.on('error', () => undefined);
      res.resume();
    });
    call.on('error', () => count(0));
    call.on('close', () => {
      open -= 1;
    });
    call.end(body);
  }

  const timer = setInterval(() => {
    const nowMs = performance.now();
    due = Math.min(options.rps, due + ((nowMs - lastMs) / 1000) * options.rps);
    lastMs = nowMs;
    for (; due >= 1; due -= 1) if (open < MAX_OPEN) send();
  }, TICK_MS);
  timer.unref();

  return {
    stop: () => {
      if (stopped) return;
      stopped = true;
      clearInterval(timer);
      agent.destroy();
    },
    get counts() {
      return { sent, statuses: { ...statuses } };
    },
  };
}
