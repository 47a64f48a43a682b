import type { StackFile } from '@sluice/contracts';
import { runningStack } from '../stack/running-stack.ts';
import { stackFiles, type StackSettings } from '../stack/settings.ts';
import { readState } from '../supervisor/supervisor-state.ts';
import { signInAsOperator } from './operator-api.ts';
import { reconcile, settledLedger } from './reconcile.ts';
import { verifyTopology } from './verify-topology.ts';

/** Checks that what is deployed equals what is declared and that the ledger agrees with the providers' own count. */
export async function verify(settings: StackSettings): Promise<number> {
  const stack = runningStack(settings.dataDir);
  const topology = await verifyTopology(stack);
  const spineWell = report(topology.text, topology.faults);
  const ledgerWell = await verifyLedger(stack, providersSince(settings));
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

async function verifyLedger(stack: StackFile, from: Date): Promise<boolean> {
  const api = await signInAsOperator(stack);
  const { ledger, providers } = await settledLedger(api, stack, from);
  const scope = providers.unfinished === 0 ? 'tokens equal' : `tokens at least equal, because ${providers.unfinished} calls did not finish at a provider`;
  return report(
    `Ledger agrees with the providers since their start at ${from.toISOString()}: ${ledger.calls} calls, ${providers.completed} completed; ${scope} (input ${providers.input}, output ${providers.output})`,
    reconcile(ledger, providers),
  );
}
