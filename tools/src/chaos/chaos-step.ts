import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { LedgerPage, type StackFile } from '@sluice/contracts';
import { STEADY } from '../demo/tenant-traffic.ts';
import { openLoop } from '../load/open-loop.ts';
import { sendCall, type CallResult } from '../load/send-call.ts';
import { StackError } from '../stack/running-stack.ts';
import { stackFiles, type StackSettings } from '../stack/settings.ts';
import { identify, signal } from '../supervisor/process-identity.ts';
import { readState } from '../supervisor/supervisor-state.ts';
import type { Operator } from './operator.ts';

/** What a step works with. */
export interface ChaosContext {
  readonly settings: StackSettings;
  readonly stack: StackFile;
  readonly operator: Operator;
  /** Prints a verdict; empty faults are a good one. */
  report(text: string, faults: readonly string[]): boolean;
  /** Has a check run after the last step, for what needs time to heal. */
  later(check: () => Promise<boolean>): void;
}

/** One failure, induced and survived. */
export interface ChaosStep {
  /** What is broken, in a sentence. */
  readonly text: string;
  /** True when everything that was promised held. */
  run(context: ChaosContext): Promise<boolean>;
}

const RATE = 10;
/** A part that was killed is healthy again by then, also on a machine that is busy. */
const BACK_WITHIN_S = 60;

/** Steady calls of one tenant, open loop. */
export async function traffic({ stack }: ChaosContext, seconds: number): Promise<CallResult[]> {
  const pool = new Pool(stack.services.gateway.url, { connections: 64 });
  const key = stack.keys['globex-prod'] ?? '';
  try {
    return await openLoop(RATE, seconds, (index) => sendCall(pool, { key, ...STEADY.globex.call(index) }));
  } finally {
    await pool.close();
  }
}

export function failures(results: readonly CallResult[], when: string): string[] {
  const bad = results.filter((result) => result.outcome !== 'ok');
  return bad.length === 0
    ? []
    : [
        `${bad.length} of ${results.length} calls ended badly ${when}, the first as ${bad[0]?.outcome} (${bad[0]?.status})`,
      ];
}

/**
 * Asks every half second until `what` holds; resolves with the seconds it took, or undefined when it did not in
 * time.
 */
export async function within(seconds: number, what: () => Promise<boolean>): Promise<number | undefined> {
  const startedMs = performance.now();
  for (;;) {
    if (await what().catch(() => false)) return (performance.now() - startedMs) / 1000;
    if (performance.now() - startedMs > seconds * 1000) return undefined;
    await delay(500);
  }
}

/** True when the embedded supervisor runs this part. */
export function hasPart({ settings }: ChaosContext, part: string): boolean {
  return readState(stackFiles(settings.dataDir).state)?.parts.some((one) => one.name === part) ?? false;
}

/** Waits until a part that was killed runs as another process and is healthy. */
export async function comesBack(context: ChaosContext, part: string, oldPid: number | undefined): Promise<string[]> {
  const find = () => readState(stackFiles(context.settings.dataDir).state)?.parts.find((one) => one.name === part);
  const took = await within(BACK_WITHIN_S, async () => find()?.state === 'ready' && find()?.process?.pid !== oldPid);
  return took === undefined ? [`it was not healthy within ${BACK_WITHIN_S} s`] : [];
}

export function pidOf({ settings }: ChaosContext, part: string): number | undefined {
  return readState(stackFiles(settings.dataDir).state)?.parts.find((one) => one.name === part)?.process?.pid;
}

/** SIGKILLs a part and waits for its successor; what went wrong. @throws StackError when it does not run. */
export async function killAndAwait(context: ChaosContext, part: string): Promise<string[]> {
  const victim = readState(stackFiles(context.settings.dataDir).state)?.parts.find((one) => one.name === part)?.process;
  if (victim === undefined || !signal(victim, 'SIGKILL')) throw new StackError(`${part} does not run.`);
  return comesBack(context, part, victim.pid);
}

/**
 * SIGKILLs the PostgreSQL server itself (its part ends with it) and waits for the next one.
 * @throws StackError when none runs.
 */
export async function killDatabase(context: ChaosContext): Promise<string[]> {
  const part = pidOf(context, 'database');
  const lock = await readFile(join(context.settings.dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  const server = identify(Number(lock.split('\n')[0]));
  if (server === undefined || !signal(server, 'SIGKILL')) throw new StackError('database does not run.');
  return comesBack(context, 'database', part);
}

/** What is wrong with the ledger's rows of these calls, once all are there or after 40 s. */
export async function ledgerFaults(
  { operator }: ChaosContext,
  from: string,
  results: readonly CallResult[],
): Promise<string[]> {
  const wanted = results.filter((result) => result.outcome === 'ok').flatMap((result) => result.requestId ?? []);
  let counts = new Map<string, number>();
  await within(40, async () => {
    counts = await countRows(operator, from);
    return wanted.every((id) => counts.has(id));
  });
  const missing = wanted.filter((id) => !counts.has(id));
  const twice = wanted.filter((id) => (counts.get(id) ?? 0) > 1);
  return [
    ...(missing.length > 0 ? [`${missing.length} of ${wanted.length} are missing, for instance ${missing[0]}`] : []),
    ...(twice.length > 0 ? [`${twice.length} of ${wanted.length} are there twice, for instance ${twice[0]}`] : []),
  ];
}

async function countRows(operator: Operator, from: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({
      workspace: 'globex-prod',
      from,
      limit: '500',
      ...(cursor !== null && { cursor }),
    });
    const page = LedgerPage.parse(await operator.call('GET', `/api/ledger?${query}`));
    for (const row of page.rows) counts.set(row.request_id, (counts.get(row.request_id) ?? 0) + 1);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return counts;
}
