import type { StackFile } from '@sluice/contracts';
import { runningStack } from '../stack/running-stack.ts';
import { stackFiles, type StackSettings } from '../stack/settings.ts';
import { readState } from '../supervisor/supervisor-state.ts';
import { signInAsOperator } from './operator-api.ts';
import { collectEvidence } from './collect-evidence.ts';
import { reconcile, settledLedger } from './reconcile.ts';
import { reconcileCalls, reconcileGateway, unwitnessed } from './reconcile-calls.ts';
import { countedMonths, reconcileMonths } from './reconcile-quotas.ts';
import { verifyTopology } from './verify-topology.ts';

/** Checks that what is deployed equals what is declared and that the ledger agrees with the providers' own count. */
export async function verify(settings: StackSettings): Promise<number> {
  const stack = runningStack(settings.dataDir);
  const topology = await verifyTopology(stack);
  const spineWell = report(topology.text, topology.faults);
  const ledgerWell = await verifyLedger(settings, stack, providersSince(settings));
  return spineWell && ledgerWell ? 0 : 1;
}

/** Prints `text` with its verdict and what is wrong. */
export function report(text: string, faults: readonly string[]): boolean {
  console.log(`${faults.length === 0 ? 'ok  ' : 'FAIL'} ${text}`);
  for (const fault of faults) console.log(`       ${fault}`);
  return faults.length === 0;
}

/** When the simulated providers began to count. */
function providersSince(settings: StackSettings): Date {
  const sim = readState(stackFiles(settings.dataDir).state)?.parts.find((part) => part.name === 'provider-sim');
  return new Date(sim?.startedAtMs ?? 0);
}

async function verifyLedger(settings: StackSettings, stack: StackFile, from: Date): Promise<boolean> {
  const api = await signInAsOperator(stack);
  const { ledger, providers } = await settledLedger(api, stack, from);
  const evidence = await collectEvidence(api, stack, settings, from);
  const { rows, calls, gateways, rollupFaults } = evidence;
  const months = await countedMonths(api, stack);
  const since = `since ${from.toISOString()}`;
  const alone = unwitnessed(calls);
  for (const [provider, count] of alone)
    console.log(`no witness  ${provider} keeps no count of its own: its ${count} calls stand in the ledger alone`);
  // The sums of all providers are those of the ledger only where each of them counts.
  const unnamed = calls.forgotten && alone.length === 0 ? reconcile(ledger, providers) : [];
  const verdicts = [
    report(
      `Ledger, providers and clients agree call by call ${since}: ${calls.rows.length} rows, ${providers.completed} answers of providers, ${calls.clients.length} calls that clients recorded`,
      [...reconcileCalls(calls), ...unnamed],
    ),
    report(
      `Ledger holds each call that its gateways counted: ${gateways.map((one) => `${one.gatewayId} ${one.lastSequence}`).join(', ') || 'no gateway is live'}`,
      gateways.flatMap((one) => reconcileGateway(one, rows)),
    ),
    report(
      `Quota counters of this month equal the ledger: ${months.map((month) => `${month.owner} ${month.counted}`).join(', ')}`,
      reconcileMonths(months),
    ),
    report(`Rollups by hour and day equal the sum of the rows ${since}`, rollupFaults),
  ];
  return verdicts.every(Boolean);
}
