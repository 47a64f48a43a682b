import { ATTACK_STEPS } from '../chaos/attack-steps.ts';
import { FAULT_STEPS } from '../chaos/fault-steps.ts';
import type { ChaosContext, ChaosStep } from '../chaos/chaos-step.ts';
import { KILL_STEPS } from '../chaos/kill-steps.ts';
import { createOperator } from '../chaos/operator.ts';
import { SHARED_STORE_STEPS } from '../chaos/shared-store-steps.ts';
import { SPINE_STEPS } from '../chaos/spine-steps.ts';
import { WATCHED_STEPS } from '../chaos/watched-steps.ts';
import { runningStack } from '../stack/running-stack.ts';
import { stackFiles, type StackSettings } from '../stack/settings.ts';
import { table } from '../stack/welcome.ts';
import { isAlive } from '../supervisor/process-identity.ts';
import { readState } from '../supervisor/supervisor-state.ts';
import { bringUp } from './up.ts';
import { report, verify } from './verify.ts';

/**
 * In this order: the judged ones on a stack that nothing has hurt yet; what needs time to heal early, its check
 * last.
 */
const STEPS: readonly ChaosStep[] = [
  ...WATCHED_STEPS,
  ...ATTACK_STEPS,
  ...SPINE_STEPS,
  ...KILL_STEPS,
  ...FAULT_STEPS,
  ...SHARED_STORE_STEPS,
];

/**
 * Breaks parts of the running stack one after the other and checks that what was promised still holds. Ends at the
 * first promise that does not, with a table of what was tried; 0 only when everything held.
 *
 * @param settings with `CHAOS_ONLY` in its environment only the steps whose sentence holds that word are run,
 * without the reconciliation.
 */
export async function chaos(settings: StackSettings): Promise<number> {
  const state = readState(stackFiles(settings.dataDir).state);
  if (state === undefined || !isAlive(state.supervisor)) await bringUp(settings);
  const stack = runningStack(settings.dataDir);
  const operator = createOperator(stack);
  const laterChecks: (() => Promise<boolean>)[] = [];
  const context: ChaosContext = { settings, stack, operator, report, later: (check) => laterChecks.push(check) };
  const only = settings.env['CHAOS_ONLY']?.toLowerCase();
  const steps = STEPS.filter(({ text }) => only === undefined || text.toLowerCase().includes(only));
  if (steps.length === 0) {
    console.log(
      `No step's sentence holds "${only ?? ''}". There are:\n  ${STEPS.map(({ text }) => text).join('\n  ')}`,
    );
    return 1;
  }
  const startedMs = performance.now();
  const elapsed = (): string => `${Math.round((performance.now() - startedMs) / 1000)} s`;
  const rows: string[][] = [];
  const tried = async (text: string, run: () => Promise<boolean>): Promise<boolean> => {
    const beganMs = performance.now();
    const held = await run().catch((error: Error) => report('the step could be carried out', [error.message]));
    rows.push([held ? 'held' : 'FAILED', `${Math.round((performance.now() - beganMs) / 1000)} s`, text]);
    return held;
  };
  const all = async (): Promise<boolean> => {
    for (const [index, step] of steps.entries()) {
      console.log(`\n[${index + 1}/${steps.length}, ${elapsed()}] ${step.text}`);
      if (!(await tried(step.text, () => step.run(context)))) return false;
    }
    console.log(`\n[${elapsed()}] After all of it:`);
    for (const check of laterChecks) if (!(await tried('What needed time to heal.', check))) return false;
    return (
      only !== undefined ||
      (await tried(
        'Deployed equals declared, and the ledger reconciles call by call.',
        async () => (await verify(settings)) === 0,
      ))
    );
  };
  let held = false;
  try {
    held = await all();
  } finally {
    await operator
      .call('POST', '/api/chaos/stop')
      .catch((error: Error) => console.log(`Chaos could not be stopped: ${error.message}`));
  }
  console.log(`\n${table([['', 'took', 'failure'], ...rows]).join('\n')}`);
  console.log(
    held
      ? `\nEverything held, in ${elapsed()}.`
      : `\nNot everything held (${elapsed()}); the first that did not ended the run, and ${steps.length - Math.min(steps.length, rows.length)} steps were not tried.`,
  );
  return held ? 0 : 1;
}
