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

/**
 * One call as a load balancer sends it: to its gateway, and to the next where that refuses the connection or says that it
 * is draining. A connection that breaks once a call is on its way is a dropped call. Never throws.
 */
export async function balancedCall(gateways: readonly string[], first: number, key: string, stream: boolean): Promise<BalancedCall> {
  const deadlineMs = performance.now() + GIVE_UP_MS;
  for (let turn = first; performance.now() < deadlineMs; turn += 1) {
    const answer = await callOnce(gateways[turn % gateways.length] ?? '', key, stream);
    if (answer !== 'next') return answer;
    await delay(20);
  }
  return { ok: false, fault: 'no gateway took it' };
}

async function callOnce(gateway: string, key: string, stream: boolean): Promise<BalancedCall | 'next'> {
  try {
    const response = await request(`${gateway}/v1/chat/completions`, {
      method: 'POST',
      // A connection of its own, so that one which is closed when it was idle is not taken for a dropped call.
      reset: true,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'Roll.' }], stream, sim: { output_tokens: 60 } }),
    });
    const text = await response.body.text();
    if (response.statusCode === 503 && response.headers[HEADER.refusal] === 'draining') return 'next';
    if (response.statusCode !== 200) return { ok: false, fault: `status ${response.statusCode}: ${text.slice(0, 120)}` };
    if (stream && !text.includes('[DONE]')) return { ok: false, fault: 'a stream without its end' };
    return { ok: true, fault: undefined };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return 'next';
    return { ok: false, fault: `the connection broke: ${(error as Error).message}` };
  }
}
