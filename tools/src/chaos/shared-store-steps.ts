import { StackError } from '../stack/running-stack.ts';
import { identify, signal } from '../supervisor/process-identity.ts';
import { openLoop } from '../load/open-loop.ts';
import { createBalancer } from './balanced-calls.ts';
import { comesBack, pidOf, within, type ChaosContext, type ChaosStep } from './chaos-step.ts';
import { createOperator } from './operator.ts';
import { hasSharedStoreServer, startSharedStoreStack, type SharedStoreStack } from './shared-store-stack.ts';
import { runWatched } from './watched-steps.ts';

const RATE = 12;
const ROLL_S = 12;

/** Failures that need two gateways and a Valkey; in a stack of their own, which stops with them. */
export const SHARED_STORE_STEPS: readonly ChaosStep[] = [
  {
    text: 'Two gateways that share a Valkey (a second stack of its own): Valkey is lost and comes back; both gateways are restarted one after the other.',
    run: async (context) => {
      if (!hasSharedStoreServer()) {
        console.log(
          '     skipped: neither valkey-server nor redis-server is on PATH (Debian: apt-get install redis-server)',
        );
        return true;
      }
      const shared = await startSharedStoreStack(context.settings.root);
      try {
        const inIt: ChaosContext = {
          ...context,
          settings: shared.settings,
          stack: shared.stack,
          operator: createOperator(shared.stack),
        };
        const both = await within(
          30,
          async () =>
            (await inIt.operator.state()).gateways.filter(({ live, store }) => live && store === 'valkey').length === 2,
        );
        const well = context.report(
          'two gateways of one cell serve and share their limits',
          both === undefined ? ['the picture does not show two'] : [],
        );
        const lost = await runWatched(inIt, { name: 'valkey', body: { seconds: 8 }, withinS: 60 });
        return (await rollingRestart(inIt, shared)) && lost && well;
      } finally {
        await shared.stop();
      }
    },
  },
];

/** Restarts both gateways in turn under traffic that a balancer spreads; no call may be dropped. */
async function rollingRestart(context: ChaosContext, shared: SharedStoreStack): Promise<boolean> {
  const balancer = createBalancer(shared.gateways, shared.stack.keys['acme-prod'] ?? '');
  const calls = openLoop(RATE, ROLL_S, (index) => balancer.call(index, index % 2 === 0));
  const pid = pidOf(context, 'gateway');
  const first = pid === undefined ? undefined : identify(pid);
  if (first === undefined || !signal(first, 'SIGTERM')) throw new StackError('gateway does not run.');
  const back = await comesBack(context, 'gateway', pid);
  await shared.restartSecond();
  const results = await calls;
  const dropped = results.filter(({ ok }) => !ok);
  const wellBack = context.report('the first gateway drains, ends and is started again', back);
  return (
    context.report(
      `both were restarted; none of ${results.length} calls was dropped, half of them streams`,
      dropped.length === 0 ? [] : [`${dropped.length} were, the first: ${dropped[0]?.fault ?? ''}`],
    ) && wellBack
  );
}
