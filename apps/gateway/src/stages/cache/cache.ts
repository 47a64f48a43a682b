import { HEADER } from '@sluice/contracts';
import type { Stage } from '../../stage.ts';

/**
 * The place of the exact cache. Nothing is cached yet: a workspace whose policy asks for it is answered as if it were
 * off, and every answer says so.
 */
export function createCacheStage(): Stage {
  return {
    name: 'cache',
    run(call) {
      call.response.setHeader(HEADER.cache, 'off');
      return undefined;
    },
  };
}
