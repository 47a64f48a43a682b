import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  QuotaUseResponse,
  type Clock,
  type EventsFrom,
  type LimitScope,
  type QuotaCheckpoint,
  type QuotaUse,
  type QuotaUseRequest,
  type QuotaWindow,
} from '@sluice/contracts';
import { meterUnits, windowSpan } from '@sluice/limits';
import { Agent, request } from 'undici';
import type { CompiledConfig } from '../compiled-config.ts';

/** A month of many rows takes the database seconds. */
const TIMEOUT_MS = 60_000;

/** Asks the control plane. @throws when it cannot be reached or does not answer as agreed. */
export type FetchQuotaUse = (request: QuotaUseRequest) => Promise<QuotaUseResponse>;

export function createFetchQuotaUse({ url, token }: { url: string; token: string }): FetchQuotaUse {
  return async (body) => {
    const agent = new Agent({
      connections: 1,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      connect: { timeout: 2_000 },
    });
    try {
      const response = await request(`${url}/internal/quota-use`, {
        method: 'POST',
        dispatcher: agent,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (response.statusCode === 200) return QuotaUseResponse.parse(await response.body.json());
      await response.body.dump();
      throw new Error(`the control plane answered the question for quota use with ${response.statusCode}`);
    } finally {
      await agent.destroy();
    }
  };
}

export interface LedgerUseDeps {
  readonly fetch: FetchQuotaUse;
  readonly gatewayId: string;
  readonly clock: Clock;
  /** Limits of every key and workspace of the configuration in force. */
  readonly scopes: () => Iterable<LimitScope>;
}

/** What the ledger holds beside the calls `except`, as counters of the windows that are configured now. */
export type LedgerUse = (except: readonly EventsFrom[]) => Promise<QuotaCheckpoint>;

/** Every window is asked for in its own steps, so that the counters come out as if they had never been lost. */
export function createLedgerUse({ fetch, gatewayId, clock, scopes }: LedgerUseDeps): LedgerUse {
  return async (except) => {
    const nowMs = clock.now();
    const spans = createSpans(nowMs);
    for await (const { levels, timeZone } of inTurns(scopes()))
      for (const { limits } of levels) spans.of(limits.quotas, timeZone);
    if (spans.all.length === 0) return { version: 1, savedAtMs: nowMs, windows: [] };
    const answer = await fetch({ gateway_id: gatewayId, except: [...except], spans: spans.all });
    if (answer.spans.length !== spans.all.length)
      throw new Error(`${spans.all.length} spans were asked for and ${answer.spans.length} came`);
    const windows: QuotaCheckpoint['windows'][number][] = [];
    for await (const window of usedWindows(inTurns(scopes()), spans, answer.spans.map(groupByOwner)))
      windows.push(window);
    return { version: 1, savedAtMs: nowMs, windows };
  };
}

/** Scopes that are looked at in one turn of the event loop: about a millisecond of work. */
const SCOPES_AT_ONCE = 500;

/** Very many scopes are asked for while calls are served; these have their turn between. */
async function* inTurns(scopes: Iterable<LimitScope>): AsyncIterable<LimitScope> {
  let count = 0;
  for (const scope of scopes) {
    yield scope;
    count += 1;
    if (count % SCOPES_AT_ONCE === 0) await nextTurn();
  }
}

/** The distinct spans of quota windows. Most workspaces have their plan's windows, and those are looked at once. */
function createSpans(nowMs: number) {
  const all: QuotaUseRequest['spans'] = [];
  const known = new Map<readonly QuotaWindow[], Map<string, readonly number[]>>();
  const spanOf = ({ span }: QuotaWindow, timeZone: string): number => {
    const wanted = span.kind === 'calendar' ? calendarSpan(span, timeZone, nowMs) : rollingSpan(span, nowMs);
    const at = all.findIndex(({ from_ms, step_ms }) => from_ms === wanted.from_ms && step_ms === wanted.step_ms);
    return at >= 0 ? at : all.push(wanted) - 1;
  };
  return {
    all,
    /** For each window the place of its span in `all`. */
    of(quotas: readonly QuotaWindow[], timeZone: string): readonly number[] {
      let zones = known.get(quotas);
      if (zones === undefined) known.set(quotas, (zones = new Map()));
      let spans = zones.get(timeZone);
      if (spans === undefined) zones.set(timeZone, (spans = quotas.map((definition) => spanOf(definition, timeZone))));
      return spans;
    },
  };
}

type Owners = ReadonlyMap<string, readonly QuotaUse[]>;

/** The windows, each once, in which one of these owners has used something. */
async function* usedWindows(
  scopes: AsyncIterable<LimitScope>,
  spans: ReturnType<typeof createSpans>,
  byOwner: readonly Owners[],
): AsyncIterable<QuotaCheckpoint['windows'][number]> {
  const left = new Set(byOwner.flatMap((owners) => [...owners.keys()]));
  for await (const { levels, timeZone } of scopes) {
    for (const { level, id, limits } of levels) {
      if (limits.quotas.length === 0 || !left.delete(`${level} ${id}`)) continue;
      const places = spans.of(limits.quotas, timeZone);
      for (const [i, definition] of limits.quotas.entries()) {
        const steps = new Map<number, number>();
        for (const use of byOwner[places[i] ?? -1]?.get(`${level} ${id}`) ?? []) {
          const units = meterUnits(definition.meter, use.input_tokens, use.output_tokens, use.billed_nanousd);
          if (units > 0) steps.set(use.at_ms, (steps.get(use.at_ms) ?? 0) + units);
        }
        if (steps.size > 0) yield { level, id, quota: definition.id, steps: [...steps].sort(([a], [b]) => a - b) };
      }
    }
  }
}

function calendarSpan(span: QuotaWindow['span'], timeZone: string, nowMs: number): QuotaUseRequest['spans'][number] {
  return { from_ms: windowSpan(span, timeZone).stepAt(nowMs).startMs };
}

function rollingSpan(span: QuotaWindow['span'] & { kind: 'rolling' }, nowMs: number): QuotaUseRequest['spans'][number] {
  const { startMs, endMs } = windowSpan(span, 'UTC').stepAt(nowMs);
  const stepMs = endMs - startMs;
  return { from_ms: startMs - stepMs * (span.steps + 1), step_ms: stepMs };
}

function groupByOwner(uses: readonly QuotaUse[]): Map<string, QuotaUse[]> {
  const groups = new Map<string, QuotaUse[]>();
  for (const use of uses) {
    for (const owner of [`tenant ${use.tenant_id}`, `workspace ${use.workspace_id}`, `key ${use.key_id}`]) {
      const group = groups.get(owner);
      if (group === undefined) groups.set(owner, [use]);
      else group.push(use);
    }
  }
  return groups;
}

/** Every set of limits of a configuration. @throws while there is none. */
export function* scopesOf(config: CompiledConfig | undefined): Iterable<LimitScope> {
  if (config === undefined) throw new Error('there is no configuration yet');
  for (const { scope } of config.workspaces.values()) yield scope;
  for (const { scope } of config.keys.values()) yield scope;
}
