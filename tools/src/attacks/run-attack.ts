import { Worker } from 'node:worker_threads';
import { Pool } from 'undici';
import { countBy, percentile } from '../load/distribution.ts';
import { openLoop } from '../load/open-loop.ts';
import { sendCall, type CallResult } from '../load/send-call.ts';
import type { Attack, AttackTarget, Tally } from './attack.ts';
import type { AttackOrder } from './attack-thread.ts';

/** A tenant that keeps to its limits while others attack. */
export interface Neighbour {
  readonly tenant: string;
  readonly key: string;
  readonly perSecond: number;
}

/** What one attack did to others, and to itself. */
export interface AttackVerdict {
  readonly attack: Attack;
  readonly tally: Tally;
  /** Calls of each neighbour, in its order, without and with the attack. */
  readonly calm: readonly CallResult[][];
  readonly attacked: readonly CallResult[][];
  /** What did not hold, in sentences; empty when the promise was kept. */
  readonly complaints: readonly string[];
}

/** A neighbour may wait this long for a provider's capacity, p99: nothing but the noise of timers. */
const QUEUE_P99_MS = 5;
/** Once the attack's end is due it may take this much longer to give up its connections. */
const GRACE_S = 30;

/**
 * Runs neighbours alone, then beside an attack that has a thread of its own, so that what it costs to attack is not
 * measured as what it does.
 */
export async function runAttack(
  attack: Attack,
  given: AttackTarget,
  neighbours: readonly Neighbour[],
  calmSeconds: number,
): Promise<AttackVerdict> {
  const target = { ...given, seconds: Math.max(given.seconds, attack.atLeastSeconds ?? 0) };
  const calm = await drive(target.url, neighbours, calmSeconds);
  const [tally, attacked] = await Promise.all([
    inThread({ name: attack.name, target }),
    drive(target.url, neighbours, target.seconds),
  ]);
  const complaints = [
    ...neighbours.flatMap(({ tenant }, i) => judgeNeighbour(tenant, attacked[i] ?? [])),
    ...(attack.judge?.(tally, target) ?? []),
  ];
  return { attack, tally, calm, attacked, complaints };
}

/** What a neighbour noticed, in sentences. */
export function judgeNeighbour(tenant: string, results: readonly CallResult[]): string[] {
  const bad = results.filter(({ outcome }) => outcome !== 'ok');
  const ends = Object.entries(countBy(bad, ({ outcome }) => outcome)).map(([outcome, calls]) => `${calls} ${outcome}`);
  const complaints = bad.length === 0 ? [] : [`${tenant}: of ${results.length} calls ${ends.join(', ')}`];
  const waits = results.flatMap(({ queueMs }) => queueMs ?? []);
  const p99 = percentile(waits, 99);
  if (p99 === undefined) return [...complaints, `${tenant}: no answer tells its queue time, so nothing is proven`];
  return p99 < QUEUE_P99_MS ? complaints : [...complaints, `${tenant}: queue time p99 ${p99.toFixed(1)} ms`];
}

async function drive(url: string, neighbours: readonly Neighbour[], seconds: number): Promise<CallResult[][]> {
  const pool = new Pool(url, { connections: 64 });
  try {
    return await Promise.all(
      neighbours.map(({ key, perSecond }) =>
        openLoop(perSecond, seconds, (index) =>
          sendCall(pool, {
            key,
            model: 'sim-small',
            prompt: `Classify ticket ${index}.`,
            stream: index % 2 === 0,
            outputTokens: 10,
          }),
        ),
      ),
    );
  } finally {
    await pool.close();
  }
}

function inThread(order: AttackOrder): Promise<Tally> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL('attack-thread.ts', import.meta.url), {
      workerData: order,
      execArgv: ['--conditions=@sluice/source', '--disable-warning=ExperimentalWarning'],
    });
    const patience = setTimeout(
      () => {
        reject(new Error(`The attack ${order.name} did not end.`));
        void thread.terminate();
      },
      (order.target.seconds + GRACE_S) * 1000,
    );
    thread.once('message', resolve);
    thread.once('error', reject);
    thread.once('exit', () => {
      clearTimeout(patience);
      reject(new Error(`The attack ${order.name} ended without a result.`));
    });
  });
}

/** A row for people: how the attackers fared, and the neighbours' latency without and with them. */
export function verdictRow({ attack, tally, calm, attacked, complaints }: AttackVerdict): string[] {
  const ends = Object.entries(tally).map(([outcome, calls]) => `${calls} ${outcome}`);
  return [complaints.length === 0 ? 'held' : 'FAILED', attack.name, ends.join(', '), latency(calm), latency(attacked)];
}

/** Head of the rows of `verdictRow`. */
export const VERDICT_HEAD: readonly string[] = [
  '',
  'attack',
  'attackers’ calls',
  'neighbours alone: p50 / p99 ms (calls)',
  'beside it: p50 / p99 ms (calls)',
];

function latency(runs: readonly CallResult[][]): string {
  const times = runs.flat().map(({ totalMs }) => totalMs);
  const at = (percent: number): string => Math.round(percentile(times, percent) ?? 0).toString();
  return `${at(50)} / ${at(99)} (${times.length})`;
}
