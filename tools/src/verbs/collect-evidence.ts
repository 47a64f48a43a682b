import { request } from 'undici';
import { z } from 'zod';
import {
  LedgerDifference,
  LedgerPage,
  OperatorState,
  SIM_PROVIDERS,
  SimCalls,
  type LedgerRow,
  type SimCallEntry,
  type StackFile,
} from '@sluice/contracts';
import { readClientRecords } from '../load/client-records.ts';
import { stackFiles, type StackSettings } from '../stack/settings.ts';
import { getJson, type OperatorApi } from './operator-api.ts';
import type { GatewayCount, Witnesses } from './reconcile-calls.ts';

export interface Evidence {
  /** Of the providers' time and of the running gateways' epochs, whichever began first. */
  readonly rows: readonly LedgerRow[];
  readonly calls: Witnesses;
  readonly gateways: readonly GatewayCount[];
  /** Sentences about rollups that are not the sum of their rows. */
  readonly rollupFaults: readonly string[];
}

/** What every witness of a stack says about the calls since `from`, the start of the simulated providers. */
export async function collectEvidence(
  api: OperatorApi,
  stack: StackFile,
  settings: StackSettings,
  from: Date,
): Promise<Evidence> {
  const { gateways } = OperatorState.parse(await api.get('/api/state'));
  const live = gateways.filter((gateway) => gateway.live);
  const earliest = Math.min(from.getTime(), ...live.map((gateway) => gateway.started_at_ms));
  const rows = await readLedger(api, new Date(Math.max(0, earliest)));
  const providers: Record<string, SimCallEntry[]> = {};
  let forgotten = false;
  for (const name of Object.keys(SIM_PROVIDERS)) {
    const list = await readCalls(stack, name);
    providers[name] = list.calls;
    forgotten ||= list.forgotten;
  }
  const since = from.toISOString();
  return {
    rows,
    calls: {
      rows: rows.filter((row) => Date.parse(row.occurred_at) >= from.getTime()),
      providers,
      forgotten,
      clients: readClientRecords(stackFiles(settings.dataDir).clients).filter((record) => record.at >= since),
    },
    gateways: await Promise.all(
      live.map(async ({ gateway_id, outbox }) => ({
        gatewayId: gateway_id,
        epoch: outbox.epoch,
        lastSequence: outbox.last_sequence,
        ok: live.length === 1 ? await countedOk(stack) : undefined,
      })),
    ),
    rollupFaults: await rollupFaults(api, since, rows),
  };
}

async function readLedger(api: OperatorApi, from: Date): Promise<LedgerRow[]> {
  const rows: LedgerRow[] = [];
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({
      from: from.toISOString(),
      kind: 'call',
      limit: '1000',
      ...(cursor !== null && { cursor }),
    });
    const page: LedgerPage = LedgerPage.parse(await api.get(`/api/ledger?${query}`));
    rows.push(...page.rows);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return rows;
}

async function readCalls(stack: StackFile, provider: string): Promise<{ calls: SimCallEntry[]; forgotten: boolean }> {
  const calls: SimCallEntry[] = [];
  let forgotten = false;
  for (;;) {
    const page = SimCalls.parse(
      await getJson(
        `${stack.services['provider-sim'].url}/providers/${provider}/calls?after=${calls.at(-1)?.seq ?? 0}`,
      ),
    );
    forgotten ||= page.dropped > 0;
    calls.push(...page.calls);
    if (page.calls.length === 0) return { calls, forgotten };
  }
}

const OK_SERIES = /^sluice_gateway_calls_total\{[^}]*outcome="ok"[^}]*\} (\d+)$/gm;

/** Calls that ended well since the gateway was started, by its own metrics; undefined when they cannot be read. */
async function countedOk(stack: StackFile): Promise<number | undefined> {
  const { adminUrl } = stack.services.gateway;
  if (adminUrl === undefined) return undefined;
  const response = await request(`${adminUrl}/metrics`).catch(() => undefined);
  if (response?.statusCode !== 200) return undefined;
  const text = await response.body.text();
  return [...text.matchAll(OK_SERIES)].reduce((sum, match) => sum + Number(match[1]), 0);
}

const STEP_MS = { hour: 3_600_000, day: 86_400_000 } as const;
const IDS_TOLD = 5;

async function rollupFaults(api: OperatorApi, since: string, rows: readonly LedgerRow[]): Promise<string[]> {
  const answer = z
    .object({ differences: z.array(LedgerDifference) })
    .parse(await api.get(`/api/ledger/rollups/check?${new URLSearchParams({ from: since })}`));
  return answer.differences.map((difference) => tellDifference(difference, rows));
}

/** A difference in words, with the requests whose sum it should be. */
export function tellDifference(difference: LedgerDifference, rows: readonly LedgerRow[]): string {
  const { step, at, workspace, model, provider, feature, outcome, sums } = difference;
  const start = Date.parse(at);
  const inside = rows.filter((row) => {
    const time = Date.parse(row.occurred_at) - start;
    return (
      time >= 0 &&
      time < STEP_MS[step] &&
      row.workspace === workspace &&
      (row.model ?? '') === model &&
      (row.provider ?? '') === provider &&
      (row.feature ?? '') === feature &&
      row.outcome === outcome
    );
  });
  const figures = Object.entries(sums).map(([name, sum]) => `${name} ${sum.rollup} instead of ${sum.rows}`);
  const ids = inside.slice(0, IDS_TOLD).map((row) => row.request_id);
  const named =
    ids.length === 0
      ? 'no row'
      : `${ids.join(', ')}${inside.length > IDS_TOLD ? ` and ${inside.length - IDS_TOLD} more` : ''}`;
  return `${step} ${at} of ${[workspace, model, provider, feature, outcome].filter((part) => part !== '').join(' / ')}: ${figures.join(', ')}; its rows: ${named}`;
}
