import { FAULT_STEPS } from '../chaos/fault-steps.ts';
import type { ChaosContext, ChaosStep } from '../chaos/chaos-step.ts';
import { KILL_STEPS } from '../chaos/kill-steps.ts';
import { createOperator } from '../chaos/operator.ts';
import { SPINE_STEPS } from '../chaos/spine-steps.ts';
import { runningStack } from '../stack/running-stack.ts';
import { stackFiles, type StackSettings } from '../stack/settings.ts';
import { isAlive } from '../supervisor/process-identity.ts';
import { readState } from '../supervisor/supervisor-state.ts';
import { bringUp } from './up.ts';
import { report, verify } from './verify.ts';

/** In this order: what needs time to heal comes early, its check last. */
const STEPS: readonly ChaosStep[] = [...SPINE_STEPS, ...KILL_STEPS, ...FAULT_STEPS];

/** Breaks parts of the running stack and checks that what was promised still holds; 0 only when everything did. */
export async function chaos(settings: StackSettings): Promise<number> {
  const state = readState(stackFiles(settings.dataDir).state);
  if (state === undefined || !isAlive(state.supervisor)) await bringUp(settings);
  const stack = runningStack(settings.dataDir);
  const operator = createOperator(stack);
  const laterChecks: (() => Promise<boolean>)[] = [];
  const context: ChaosContext = { settings, stack, operator, report, later: (check) => laterChecks.push(check) };
  const startedMs = performance.now();
  const elapsed = (): string => `${Math.round((performance.now() - startedMs) / 1000)} s`;
  const failed: string[] = [];
  const count = STEPS.length;
  const guarded = async (text: string, run: () => Promise<boolean>): Promise<void> => {
    try {
      if (!(await run())) failed.push(text);
    } catch (error) {
      report('the step could be carried out', [(error as Error).message]);
      failed.push(text);
    }
  };
  try {
    for (const [index, step] of STEPS.entries()) {
      console.log(`\n[${index + 1}/${count}, ${elapsed()}] ${step.text}`);
      await guarded(step.text, () => step.run(context));
    }
  } finally {
    await operator.call('POST', '/api/chaos/stop').catch((error: Error) => console.log(`Chaos could not be stopped: ${error.message}`));
  }
  console.log(`\n[${elapsed()}] After all of it:`);
  for (const check of laterChecks) await guarded('what needed time to heal', check);
  await guarded('reconciliation', async () => (await verify(settings)) === 0);
  console.log(failed.length === 0 ? `\nEverything held, in ${elapsed()}.` : `\nNot everything held (${elapsed()}):\n  ${failed.join('\n  ')}`);
  console.log('Not covered: loss of Valkey (the embedded stack has none), slow readers.');
  return failed.length === 0 ? 0 : 1;
}
