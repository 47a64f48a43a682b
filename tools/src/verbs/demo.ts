import type { Attack } from '../attacks/attack.ts';
import { ATTACKS } from '../attacks/attacks.ts';
import { attackBeside } from '../chaos/attack-steps.ts';
import type { ChaosContext } from '../chaos/chaos-step.ts';
import { createOperator } from '../chaos/operator.ts';
import { SPINE_STEPS } from '../chaos/spine-steps.ts';
import { runWatched } from '../chaos/watched-steps.ts';
import { billAct } from '../demo/bill-act.ts';
import { estimateErrors } from '../demo/estimate-errors.ts';
import { neighbourAct } from '../demo/neighbour-act.ts';
import { rolloutAct } from '../demo/rollout-act.ts';
import { runningStack } from '../stack/running-stack.ts';
import { stackFiles, type StackSettings } from '../stack/settings.ts';
import { table } from '../stack/welcome.ts';
import { isAlive } from '../supervisor/process-identity.ts';
import { readState } from '../supervisor/supervisor-state.ts';
import { bringUp } from './up.ts';
import { report } from './verify.ts';

interface Act {
  readonly title: string;
  /** What to look at meanwhile. */
  readonly look: string;
  run(): Promise<boolean>;
}

function poison(): Attack {
  const attack = ATTACKS.find(({ name }) => name === 'poison');
  if (attack === undefined) throw new Error('There is no attack poison.');
  return attack;
}

/** The product's story in six acts; 0 only when each ends as it is told. */
export async function demo(settings: StackSettings): Promise<number> {
  const state = readState(stackFiles(settings.dataDir).state);
  if (state === undefined || state.phase !== 'running' || !isAlive(state.supervisor)) await bringUp(settings);
  const stack = runningStack(settings.dataDir);
  const operator = createOperator(stack);
  const context: ChaosContext = { settings, stack, operator, report, later: () => undefined };
  const console_ = `${stack.services['control-plane'].url}/_console`;
  const acts: Act[] = [
    {
      title: "One customer's bulk import, and everyone else's product",
      look: `${console_}: initech's bars fill with throttled and shed, acme's and globex's do not change`,
      run: async () => (await neighbourAct(settings, stack)).length === 0,
    },
    {
      title: 'A provider dies under the traffic',
      look: `${console_}/chaos: primary's breaker opens, secondary answers in another dialect, and primary is taken back by itself`,
      run: () =>
        runWatched(context, {
          name: 'provider',
          body: { provider: 'primary', kind: 'down', seconds: 8 },
          withinS: 120,
        }),
    },
    {
      title: 'Two customers meet every trouble a provider can make, at accounts that all share',
      look: `${console_}/providers: breakers and accounts rest for those two, and for nobody else`,
      run: () => attackBeside(context, poison()),
    },
    {
      title: 'Whose was it, and what did it cost?',
      look: `${stack.services.console.url}: the same for the customer, signed in as ${stack.users[0]?.email ?? 'one of the people'} / ${stack.users[0]?.password ?? ''}`,
      run: () => billAct(stack, operator),
    },
    {
      title: 'A consumer breaks, and nothing is lost',
      look: `${console_}: audit-dlq fills, Redrive drains it`,
      run: async () => (await SPINE_STEPS[0]?.run(context)) === true,
    },
    {
      title: 'A better routing policy is promoted, a worse one rolled back',
      look: `${stack.services.router.url}/rollouts (with the router's token): the same evidence as on live traffic, on simulated decisions by a faster clock`,
      run: () => rolloutAct(stack),
    },
  ];
  console.log(`Open ${console_} (${stack.operator.user} / ${stack.operator.password}) and watch.`);
  const startedMs = performance.now();
  const failed: string[] = [];
  try {
    for (const [index, act] of acts.entries()) {
      console.log(`\n${index + 1}. ${act.title}\n   Look at ${act.look}.\n`);
      if (!(await act.run())) failed.push(act.title);
    }
  } finally {
    await operator
      .call('POST', '/api/chaos/stop')
      .catch((error: Error) => console.log(`Chaos could not be stopped: ${error.message}`));
  }
  console.log(
    '\nTokens expected of a call against tokens counted, since the gateway started: without calibration, and with it.',
  );
  console.log(table(estimateErrors(await operator.state())).join('\n'));
  const took = `${Math.round((performance.now() - startedMs) / 1000)} s`;
  console.log(
    failed.length === 0
      ? `\nEverything went as told, in ${took}. Next: make chaos, make verify.`
      : `\nNOT as told (${took}):\n  ${failed.join('\n  ')}`,
  );
  return failed.length === 0 ? 0 : 1;
}
