import { setTimeout as delay } from 'node:timers/promises';
import { Pool, request } from 'undici';
import { LedgerPage, type SimFault, type StackFile } from '@sluice/contracts';
import { STEADY } from '../demo/tenant-traffic.ts';
import { openLoop } from '../load/open-loop.ts';
import { sendCall, type CallResult } from '../load/send-call.ts';
import { runningStack, StackError } from '../stack/running-stack.ts';
import { stackFiles, type StackSettings } from '../stack/settings.ts';
import { isAlive, signal } from '../supervisor/process-identity.ts';
import { readState } from '../supervisor/supervisor-state.ts';
import { signInAsOperator, type OperatorApi } from './operator-api.ts';
import { bringUp } from './up.ts';
import { report } from './verify.ts';

const RATE = 10;
const SECONDS = 10;

/** Breaks parts of the running stack and checks that what was promised still holds. */
export async function chaos(settings: StackSettings): Promise<number> {
  const state = readState(stackFiles(settings.dataDir).state);
  if (state === undefined || !isAlive(state.supervisor)) await bringUp(settings);
  const checks = [await gatewayKilled(settings), await controlPlaneKilled(settings), await providerDown(settings)];
  console.log('Not covered yet: loss of the database, of the spine and of Valkey; slow readers; poisoned messages.');
  return checks.every(Boolean) ? 0 : 1;
}

async function traffic(stack: StackFile, seconds = SECONDS): Promise<CallResult[]> {
  const pool = new Pool(stack.services.gateway.url, { connections: 64 });
  const key = stack.keys['globex-prod'] ?? '';
  try {
    return await openLoop(RATE, seconds, (index) => sendCall(pool, { key, ...STEADY.globex.call(index) }));
  } finally {
    await pool.close();
  }
}

/** SIGKILLs a part; resolves to false when the supervisor has not brought it back within 30 s. */
async function killAndAwait(settings: StackSettings, part: string): Promise<boolean> {
  const statePath = stackFiles(settings.dataDir).state;
  const find = () => readState(statePath)?.parts.find((one) => one.name === part);
  const victim = find()?.process;
  if (victim === undefined || !signal(victim, 'SIGKILL')) throw new StackError(`${part} does not run.`);
  const until = performance.now() + 30_000;
  while (performance.now() < until) {
    await delay(100);
    const now = find();
    if (now?.state === 'ready' && now.process?.pid !== victim.pid) return true;
  }
  return false;
}

async function gatewayKilled(settings: StackSettings): Promise<boolean> {
  console.log('\nThe gateway is killed (SIGKILL) in the middle of traffic.');
  const stack = runningStack(settings.dataDir);
  const from = new Date().toISOString();
  const [results, back] = await Promise.all([traffic(stack), delay(3_000).then(() => killAndAwait(settings, 'gateway'))]);
  const wellBack = report('the supervisor starts it again', back ? [] : ['it was not healthy within 30 s']);
  const after = await traffic(stack, 2);
  const wellAfter = report('it serves again', failures(after, 'after the restart'));
  const answered = [...results, ...after].filter((result) => result.outcome === 'ok').flatMap((result) => result.requestId ?? []);
  const counts = await ledgerCounts(await signInAsOperator(stack), from, answered);
  const missing = answered.filter((id) => counts.get(id) === undefined);
  const twice = answered.filter((id) => (counts.get(id) ?? 0) > 1);
  const wellLedger = report(`every one of ${answered.length} answered requests is in the ledger exactly once`, [
    ...(missing.length > 0 ? [`${missing.length} are missing, for instance ${missing[0]}`] : []),
    ...(twice.length > 0 ? [`${twice.length} are there twice, for instance ${twice[0]}`] : []),
  ]);
  return wellBack && wellAfter && wellLedger;
}

async function controlPlaneKilled(settings: StackSettings): Promise<boolean> {
  console.log('\nThe control plane is killed (SIGKILL) in the middle of traffic.');
  const stack = runningStack(settings.dataDir);
  const [results, back] = await Promise.all([traffic(stack, 5), delay(1_000).then(() => killAndAwait(settings, 'control-plane'))]);
  const served = report('inference does not notice', failures(results, 'meanwhile'));
  return report('the supervisor starts it again', back ? [] : ['it was not healthy within 30 s']) && served;
}

async function providerDown(settings: StackSettings): Promise<boolean> {
  console.log('\nThe first provider of every chain closes its connections.');
  const stack = runningStack(settings.dataDir);
  const url = `${stack.services['provider-sim'].url}/providers/primary/fault`;
  const fault: SimFault = { kind: 'down', seconds: 60 };
  await request(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(fault) });
  try {
    return report('calls are answered by another provider', failures(await traffic(stack, 5), 'meanwhile'));
  } finally {
    await request(url, { method: 'DELETE' });
  }
}

function failures(results: readonly CallResult[], when: string): string[] {
  const bad = results.filter((result) => result.outcome !== 'ok');
  return bad.length === 0 ? [] : [`${bad.length} of ${results.length} calls ended badly ${when}, the first as ${bad[0]?.outcome} (${bad[0]?.status})`];
}

/** How often each request stands in the ledger, once all of `wanted` do or after 30 s. */
async function ledgerCounts(api: OperatorApi, from: string, wanted: readonly string[]): Promise<Map<string, number>> {
  const until = performance.now() + 30_000;
  for (;;) {
    const counts = new Map<string, number>();
    let cursor: string | null = null;
    do {
      const query = new URLSearchParams({ workspace: 'globex-prod', from, limit: '200', ...(cursor !== null && { cursor }) });
      const page = LedgerPage.parse(await api.get(`/api/ledger?${query}`));
      for (const row of page.rows) counts.set(row.request_id, (counts.get(row.request_id) ?? 0) + 1);
      cursor = page.next_cursor;
    } while (cursor !== null);
    if (wanted.every((id) => counts.has(id)) || performance.now() > until) return counts;
    await delay(1_000);
  }
}
