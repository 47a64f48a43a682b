import type { Stage } from '../../stage.ts';

/**
 * The place of idempotency keys. Nothing is kept yet, so every request runs, whatever `Idempotency-Key` it carries; the
 * stage exists so that the order of the path is final.
 */
export function createIdempotencyStage(): Stage {
  return { name: 'idempotency', run: () => undefined };
}
