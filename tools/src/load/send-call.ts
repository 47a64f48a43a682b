import type { Pool } from 'undici';
import { ERROR_CATALOGUE, HEADER, type ErrorCode, type Outcome } from '@sluice/contracts';
import { toldUsage, type ToldUsage } from './told-usage.ts';

export interface CallRequest {
  readonly key: string;
  readonly model: string;
  readonly prompt: string;
  readonly stream: boolean;
  /** Length of the simulated answer. */
  readonly outputTokens: number;
  /** The caller goes away after this long. */
  readonly cancelAfterMs?: number;
}

export interface CallResult {
  /** As the gateway's own headers tell; `unreachable` when there was no answer at all. */
  readonly outcome: Outcome | 'unreachable';
  readonly status: number;
  readonly refusal: string | undefined;
  /** When it was sent, on the monotonic clock of this process. */
  readonly sentAtMs: number;
  readonly totalMs: number;
  /** Server-measured wait for provider capacity; undefined for refusals. */
  readonly queueMs: number | undefined;
  readonly requestId: string | undefined;
  /** What the answer said of its tokens and price; undefined where it did not. */
  readonly told: ToldUsage | undefined;
}

/** Sends one chat completion and reads the answer to its end. Never throws. */
export async function sendCall(pool: Pool, call: CallRequest): Promise<CallResult> {
  const sentAtMs = performance.now();
  const cancel = call.cancelAfterMs === undefined ? undefined : AbortSignal.timeout(call.cancelAfterMs);
  let head: { status: number; header: (name: string) => string | undefined } | undefined;
  let outcome: CallResult['outcome'];
  let told: ToldUsage | undefined;
  try {
    const response = await pool.request({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${call.key}`, 'content-type': 'application/json', [HEADER.usageEvent]: 'true' },
      body: JSON.stringify({
        model: call.model,
        messages: [{ role: 'user', content: call.prompt }],
        max_tokens: call.outputTokens,
        stream: call.stream,
        sim: { output_tokens: call.outputTokens },
      }),
      headersTimeout: 120_000,
      bodyTimeout: 120_000,
      ...(cancel !== undefined && { signal: cancel }),
    });
    head = { status: response.statusCode, header: (name) => [response.headers[name] ?? []].flat()[0] };
    const text = await response.body.text();
    const cut = response.statusCode === 200 && call.stream && !text.includes('[DONE]');
    if (response.statusCode === 200 && !cut) told = toldUsage(text, call.stream, head.header(HEADER.costNanoUsd));
    outcome = cut ? 'upstream_error' : outcomeOf(response.statusCode, head.header(HEADER.refusal));
  } catch {
    outcome = cancel?.aborted === true ? 'cancelled' : 'unreachable';
  }
  const queueMs = head?.header(HEADER.queueMs);
  return {
    outcome,
    status: head?.status ?? 0,
    refusal: head?.header(HEADER.refusal),
    sentAtMs,
    totalMs: performance.now() - sentAtMs,
    queueMs: queueMs === undefined ? undefined : Number(queueMs),
    requestId: head?.header(HEADER.requestId),
    told,
  };
}

/** The word that the gateway itself uses, or what the status says where it gave none. */
export function outcomeOf(status: number, refusal: string | undefined): Outcome {
  if (refusal !== undefined && refusal in ERROR_CATALOGUE) return ERROR_CATALOGUE[refusal as ErrorCode].outcome;
  if (status < 400) return 'ok';
  return status >= 500 ? 'upstream_error' : 'client_error';
}
