import { makeChanges } from './audited-changes.ts';
import { failures, traffic, within, type ChaosStep } from './chaos-step.ts';

/** Steps that break a connection and leave every process alive. */
export const FAULT_STEPS: readonly ChaosStep[] = [
  {
    text: 'The configuration stream is cut, and the configuration changes meanwhile.',
    run: async (context) => {
      const { operator, report } = context;
      await operator.call('POST', '/api/chaos/stream', { seconds: 5 });
      const cut = await within(3, async () =>
        (await operator.state()).gateways.some((gateway) => gateway.live && !gateway.config_connected),
      );
      const wellCut = report(
        'the picture shows that the gateway is cut off',
        cut === undefined ? ['every gateway still reports that it is connected'] : [],
      );
      await makeChanges(context, 1);
      const served = report('inference does not notice', failures(await traffic(context, 3), 'meanwhile'));
      const caughtUp = await within(15, async () => {
        const state = await operator.state();
        return (
          state.chaos.length === 0 &&
          state.gateways.some(
            (gateway) => gateway.live && gateway.config_connected && gateway.config_version === state.config_version,
          )
        );
      });
      return (
        report(
          'it ends by itself, and the gateway catches up with every change',
          caughtUp === undefined ? ['it had not caught up after 15 s'] : [],
        ) &&
        wellCut &&
        served
      );
    },
  },
];
