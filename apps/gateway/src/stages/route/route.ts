import type { Resolved } from '../../call.ts';
import type { Stage } from '../../stage.ts';

/**
 * Chooses where the call goes, in order: the plan by rule, which was made before admission because it may refuse. What
 * depends on what is left of the budget is decided here.
 */
export function createRouteStage(): Stage {
  return {
    name: 'route',
    run(call) {
      call.plan = (call.resolved as Resolved).plan;
      return undefined;
    },
  };
}
