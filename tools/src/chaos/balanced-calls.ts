import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { HEADER } from '@sluice/contracts';

export interface BalancedCall {
  /** Answered whole. */
  readonly ok: boolean;
  /** What became of it, where it is not. */
  readonly fault: string | undefined;
}

/** Somebody answers within this, while the other is restarted. */
const GIVE_UP_MS = 30_000;

/** A gateway that refused is left alone for this long. */
const REST_MS = 1_000;

/**
 * Sends calls as a load balancer does: in turn, and to the next where a gateway refuses the connection or says that
 * it is draining; that one rests for a second. A connection that breaks once a call is on its way is a dropped
 * call. Never throws.
 */
export function createBalancer(
  gateways: readonly string[],
  key: string,
): { call(first: number, stream: boolean): Promise<BalancedCall> } {
  /** Gateway → not asked before. */
  const resting = new Map<string, number>();
  return {
    async call(first, stream) {
      const deadlineMs = performance.now() + GIVE_UP_MS;
      for (let turn = first; performance.now() < deadlineMs; turn += 1) {
        const gateway = gateways[turn % gateways.length] ?? '';
        if ((resting.get(gateway) ?? 0) > performance.now()) {
          await delay(5);
          continue;
        }
        const answer = await callOnce(gateway, key, stream);
        if (answer !== 'next') return answer;
        resting.set(gateway, performance.now() + REST_MS);
      }
      return { ok: false, fault: 'no gateway took it' };
    },
  };
}

async function callOnce(gateway: string, key: string, stream: boolean): Promise<BalancedCall | 'next'> {
  try {
    const response = await request(`${gateway}/v1/chat/completions`, {
      method: 'POST',
      // A connection of its own, so that one which is closed when it was idle is not taken for a dropped call.
      reset: true,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'sim-small',
        messages: [{ role: 'user', content: 'Roll.' }],
        stream,
        sim: { output_tokens: 60 },
      }),
    });
    const text = await response.body.text();
    if (response.statusCode === 503 && response.headers[HEADER.refusal] === 'draining') return 'next';
    if (response.statusCode !== 200)
      return { ok: false, fault: `status ${response.statusCode}: ${text.slice(0, 120)}` };
    if (stream && !text.includes('[DONE]')) return { ok: false, fault: 'a stream without its end' };
    return { ok: true, fault: undefined };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return 'next';
    return { ok: false, fault: `the connection broke: ${(error as Error).message}` };
  }
}
