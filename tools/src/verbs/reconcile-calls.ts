import { inputTokens, outputTokens, REFUSAL_OUTCOMES, type LedgerRow, type SimCallEntry } from '@sluice/contracts';
import type { ClientRecord } from '../load/client-records.ts';

/** What each witness says of the calls of one stretch of time. */
export interface Witnesses {
  /** Rows of calls, corrections left out. */
  readonly rows: readonly LedgerRow[];
  /** Ended calls by provider. */
  readonly providers: Readonly<Record<string, readonly SimCallEntry[]>>;
  /** Providers whose list begins later than their count: what they have forgotten is no evidence. */
  readonly forgotten: boolean;
  readonly clients: readonly ClientRecord[];
}

type Completed = SimCallEntry & { readonly provider: string };

/**
 * Where ledger, providers and clients disagree, one sentence for each fault, beginning with the request id; empty
 * when they agree. Calls that did not end well at a provider, or that were cut short, must be in the ledger with
 * whatever was counted.
 */
export function reconcileCalls({ rows, providers, forgotten, clients }: Witnesses): string[] {
  const faults: string[] = [];
  const byRequest = Map.groupBy(rows, (row) => row.request_id);
  const completed = new Map<string, Completed[]>();
  for (const [provider, calls] of Object.entries(providers)) {
    for (const call of calls) {
      if (call.ending !== 'completed' || call.request_id === null) continue;
      completed.set(call.request_id, [...(completed.get(call.request_id) ?? []), { ...call, provider }]);
    }
  }

  for (const [id, held] of byRequest)
    if (held.length > 1) faults.push(`${id}: the ledger holds it ${held.length} times`);
  for (const [id, calls] of completed)
    if (!byRequest.has(id)) faults.push(`${id}: ${calls.map(tell).join(' and ')}, the ledger has no row`);
  for (const row of rows) {
    if (row.outcome !== 'ok' || row.cache === 'hit' || row.cache === 'stale' || !hasWitness(row, providers)) continue;
    const answer = completed.get(row.request_id)?.find((call) => call.provider === row.provider);
    if (answer === undefined) {
      if (!forgotten)
        faults.push(
          `${row.request_id}: the ledger says that ${row.provider ?? 'a provider'} answered it, which knows of no such call`,
        );
    } else if (row.usage_source === 'provider') {
      faults.push(
        ...differ(row, `${row.provider} counted`, answer.tokens.input + answer.tokens.cache_read, answer.tokens.output),
      );
    }
  }
  faults.push(...reconcileClients(byRequest, clients));
  return faults;
}

/** True where the provider that answered keeps a count of its own. */
const hasWitness = ({ provider }: LedgerRow, providers: Witnesses['providers']): boolean =>
  provider !== null && Object.hasOwn(providers, provider);

/** Calls that no provider bears witness of, by the provider that answered them: nothing but the ledger counts them. */
export function unwitnessed({ rows, providers }: Pick<Witnesses, 'rows' | 'providers'>): [string, number][] {
  const answered = rows.filter((row) => row.outcome === 'ok' && row.provider !== null && !hasWitness(row, providers));
  return [...Map.groupBy(answered, (row) => row.provider as string)].map(([provider, of]) => [provider, of.length]);
}

function reconcileClients(
  byRequest: ReadonlyMap<string, readonly LedgerRow[]>,
  clients: readonly ClientRecord[],
): string[] {
  const faults: string[] = [];
  const seen = new Set<string>();
  const refusals: readonly string[] = REFUSAL_OUTCOMES;
  for (const { request_id: id, outcome, tokens, cost_nanousd: cost } of clients) {
    if (seen.has(id)) faults.push(`${id}: two clients were given this id`);
    seen.add(id);
    const row = byRequest.get(id)?.[0];
    if (refusals.includes(outcome)) {
      if (row !== undefined && row.billed_nanousd > 0)
        faults.push(`${id}: its client was refused (${outcome}), the ledger bills it`);
    } else if (outcome === 'ok') {
      if (row === undefined) faults.push(`${id}: its client was answered, the ledger has no row`);
      else {
        if (row.outcome !== 'ok') faults.push(`${id}: its client saw a whole answer, the ledger says ${row.outcome}`);
        if (tokens !== undefined) faults.push(...differ(row, 'its client was told', tokens.input, tokens.output));
        if (cost !== undefined && cost !== row.billed_nanousd)
          faults.push(`${id}: the ledger bills ${row.billed_nanousd} nanodollars, its client was told ${cost}`);
      }
    }
  }
  return faults;
}

function differ(row: LedgerRow, who: string, input: number, output: number): string[] {
  const [held, heldOutput] = [inputTokens(row.tokens), outputTokens(row.tokens)];
  return held === input && heldOutput === output
    ? []
    : [
        `${row.request_id}: the ledger holds ${held} input and ${heldOutput} output tokens, ${who} ${input} and ${output}`,
      ];
}

const tell = ({ provider, tokens }: Completed): string => `${provider} answered it with ${tokens.output} tokens`;

/** What a gateway says of itself. */
export interface GatewayCount {
  readonly gatewayId: string;
  readonly epoch: number;
  /** Calls that it has recorded in this epoch. */
  readonly lastSequence: number;
  /** Calls that ended well since it was started, by its metrics; undefined when they cannot be read. */
  readonly ok: number | undefined;
}

/** Where the ledger's rows of a gateway's running epoch are not the calls that it counted. Sequences have no gaps. */
export function reconcileGateway(
  { gatewayId, epoch, lastSequence, ok }: GatewayCount,
  rows: readonly LedgerRow[],
): string[] {
  const faults: string[] = [];
  const own = rows.filter((row) => row.gateway_id === gatewayId && row.epoch === epoch);
  const bySequence = Map.groupBy(own, (row) => row.sequence);
  for (const [sequence, held] of bySequence) {
    if (held.length > 1)
      faults.push(
        `${held.map((row) => row.request_id).join(', ')}: all of them are number ${sequence} of ${gatewayId}`,
      );
    if (sequence > lastSequence)
      faults.push(
        `${held[0]?.request_id}: number ${sequence} of ${gatewayId}, which has counted to ${lastSequence} only`,
      );
  }
  const missing: number[] = [];
  for (let sequence = 1; sequence <= lastSequence; sequence += 1) if (!bySequence.has(sequence)) missing.push(sequence);
  if (missing.length > 0)
    faults.push(
      `${gatewayId}: ${missing.length} of its ${lastSequence} calls are not in the ledger, numbers ${missing.slice(0, 20).join(', ')}${missing.length > 20 ? ' …' : ''}`,
    );
  const okRows = own.filter((row) => row.outcome === 'ok').length;
  if (ok !== undefined && ok !== okRows)
    faults.push(`${gatewayId} counted ${ok} calls that ended well, the ledger holds ${okRows}`);
  return faults;
}
