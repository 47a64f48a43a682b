import { SIM_PROVIDERS, SimStats, LedgerSummary, inputTokens, outputTokens, type StackFile } from '@sluice/contracts';
import { setTimeout as delay } from 'node:timers/promises';
import { getJson, type OperatorApi } from './operator-api.ts';

/** What the simulated providers counted themselves. */
export interface ProviderCount {
  readonly calls: number;
  readonly completed: number;
  readonly unfinished: number;
  readonly input: number;
  readonly output: number;
  readonly inFlight: number;
}

export async function countProviders(stack: StackFile): Promise<ProviderCount> {
  const control = stack.services['provider-sim'].url;
  const stats = await Promise.all(
    Object.keys(SIM_PROVIDERS).map(async (name) => SimStats.parse(await getJson(`${control}/providers/${name}/stats`))),
  );
  const sum = (pick: (one: SimStats) => number): number => stats.reduce((total, one) => total + pick(one), 0);
  return {
    calls: sum((one) => one.calls),
    completed: sum((one) => one.completed),
    unfinished: sum((one) => one.cancelled + one.failed),
    input: sum((one) => one.tokens.input + one.tokens.cache_read),
    output: sum((one) => one.tokens.output),
    inFlight: sum((one) => one.in_flight),
  };
}

const SETTLE_TIMEOUT_MS = 30_000;

/**
 * The ledger's sums once they have stood still for a second and hold every completed call, or as they are after 30 s.
 *
 * @param from start of the simulated providers' process: they count from then on.
 */
export async function settledLedger(
  api: OperatorApi,
  stack: StackFile,
  from: Date,
): Promise<{ ledger: LedgerSummary; providers: ProviderCount }> {
  const until = performance.now() + SETTLE_TIMEOUT_MS;
  const query = new URLSearchParams({ from: from.toISOString() });
  let last = -1;
  for (;;) {
    const providers = await countProviders(stack);
    const ledger = LedgerSummary.parse(await api.get(`/api/ledger/summary?${query}`));
    const still = ledger.calls === last && providers.inFlight === 0;
    if ((still && (ledger.outcomes.ok ?? 0) >= providers.completed) || performance.now() > until)
      return { ledger, providers };
    last = ledger.calls;
    await delay(1_000);
  }
}

/**
 * Sentences about where ledger and providers disagree; empty when they reconcile. Without calls that a provider did
 * not finish, tokens must be equal; with some, the ledger must hold at least what was completed. Where a gateway
 * was killed, tokens are not compared.
 */
export function reconcile(
  ledger: Pick<LedgerSummary, 'calls' | 'attempts' | 'outcomes' | 'tokens'>,
  providers: ProviderCount,
): string[] {
  const faults: string[] = [];
  const ledgerInput = inputTokens(ledger.tokens);
  const ledgerOutput = outputTokens(ledger.tokens);
  const ok = ledger.outcomes.ok ?? 0;
  // A gateway that was killed did not see the end of its calls: a provider may have completed what the ledger holds
  // as interrupted.
  const interrupted = ledger.outcomes.interrupted ?? 0;
  const unseen = providers.completed - ok;
  if (unseen < 0 || unseen > interrupted) {
    const more = interrupted === 0 ? '' : ` and ${interrupted} that were interrupted`;
    faults.push(`the ledger holds ${ok} calls that ended well${more}, the providers completed ${providers.completed}`);
  }
  // What an interrupted call used is an estimate.
  if (interrupted > 0) return faults;
  const exact = providers.unfinished === 0;
  for (const [what, inLedger, atProviders] of [
    ['input', ledgerInput, providers.input],
    ['output', ledgerOutput, providers.output],
  ] as const) {
    const agrees = exact ? inLedger === atProviders : inLedger >= atProviders;
    if (!agrees) faults.push(`the ledger holds ${inLedger} ${what} tokens, the providers counted ${atProviders}`);
  }
  return faults;
}
