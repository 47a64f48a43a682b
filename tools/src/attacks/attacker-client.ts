import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { HEADER } from '@sluice/contracts';
import { openLoop } from '../load/open-loop.ts';
import { outcomeOf } from '../load/send-call.ts';
import { count, type Attacker, type AttackTarget, type Tally } from './attack.ts';

/** One chat completion of an attacker. */
export interface HostileCall {
  readonly key: string;
  readonly prompt?: string;
  readonly stream?: boolean;
  readonly maxTokens?: number;
  /** What the simulated model is told. */
  readonly sim?: object;
  /** More fields of the body, as JSON text that begins with a comma. */
  readonly padding?: string;
  /** The attacker goes away after this long. */
  readonly abortAfterMs?: number;
  /** Waits this long between two reads of the answer. */
  readonly readEveryMs?: number;
  /** A new connection for this call alone. */
  readonly ownConnection?: boolean;
}

/** Linux answers on the whole of 127.0.0.0/8, so attackers come from addresses that are not their neighbours'. */
const ADDRESSES = process.platform === 'linux' ? ['127.0.0.2', '127.0.0.3'] : [];

/** An attacker's connections, and what its calls came to. */
export interface HostileClient {
  readonly attacker: Attacker;
  readonly tally: Tally;
  /** Never throws. @returns the outcome that was counted. */
  send(call: HostileCall): Promise<string>;
  /** Ends every call that is still open; they count as cancelled. */
  close(): Promise<void>;
}

function hostileClient(
  url: string,
  attacker: Attacker,
  localAddress: string | undefined,
  connections: number,
): HostileClient {
  const pool = new Pool(url, { connections, connect: localAddress === undefined ? {} : { localAddress } });
  const tally: Tally = {};
  const end = new AbortController();
  return {
    attacker,
    tally,
    async send(call) {
      const leaves = call.abortAfterMs === undefined ? [] : [AbortSignal.timeout(call.abortAfterMs)];
      const signal = AbortSignal.any([end.signal, ...leaves]);
      let outcome: Parameters<typeof count>[1];
      try {
        const response = await pool.request({
          method: 'POST',
          path: '/v1/chat/completions',
          headers: { authorization: `Bearer ${call.key}`, 'content-type': 'application/json' },
          body: bodyOf(call),
          signal,
          reset: call.ownConnection === true,
          headersTimeout: 120_000,
          bodyTimeout: 120_000,
        });
        for await (const _chunk of response.body)
          if (call.readEveryMs !== undefined) await delay(call.readEveryMs, undefined, { signal });
        outcome = outcomeOf(response.statusCode, [response.headers[HEADER.refusal] ?? []].flat()[0]);
      } catch {
        outcome = signal.aborted ? 'cancelled' : 'unreachable';
      }
      count(tally, outcome);
      return outcome;
    },
    async close() {
      end.abort();
      await pool.destroy();
    },
  };
}

function bodyOf({
  prompt = 'Move everything at once.',
  stream = false,
  maxTokens,
  sim,
  padding = '',
}: HostileCall): string {
  const more = `${maxTokens === undefined ? '' : `,"max_tokens":${maxTokens}`}${sim === undefined ? '' : `,"sim":${JSON.stringify(sim)}`}`;
  return `{"model":"sim-small","messages":[{"role":"user","content":${JSON.stringify(prompt)}}],"stream":${stream}${more}${padding}}`;
}

/**
 * Runs `work` for each attacker at the same time, with connections of its own, and ends whatever is still open
 * afterwards.
 *
 * @returns what all of their calls came to.
 */
export async function asAttackers(
  target: AttackTarget,
  work: (client: HostileClient, index: number) => Promise<unknown>,
  connections = 256,
): Promise<Tally> {
  const clients = target.attackers.map((attacker, index) =>
    hostileClient(target.url, attacker, ADDRESSES[index], connections),
  );
  try {
    await Promise.all(clients.map((client, index) => work(client, index)));
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
  // A call that was ended counts itself in the turns after its connection broke.
  await delay(50);
  const total: Tally = {};
  for (const { tally } of clients)
    for (const [outcome, calls] of Object.entries(tally) as [keyof Tally, number][])
      total[outcome] = (total[outcome] ?? 0) + calls;
  return total;
}

/** Each attacker sends at a fixed rate for as long as the attack lasts; what has not ended then is cut off. */
export function atRate(
  target: AttackTarget,
  perSecond: number,
  callOf: (client: HostileClient, index: number) => HostileCall,
  connections?: number,
): Promise<Tally> {
  return asAttackers(
    target,
    (client) =>
      Promise.race([
        openLoop(perSecond, target.seconds, (index) => client.send(callOf(client, index))),
        delay((target.seconds + 1) * 1000),
      ]),
    connections,
  );
}
