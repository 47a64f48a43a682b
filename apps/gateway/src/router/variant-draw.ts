import { hash } from 'node:crypto';

/**
 * The draw in [0, 1) that decides between the serving policy and the candidate of a rollout. The same end user of a
 * workspace keeps its draw for the whole rollout, so that it does not meet two policies in turns and only ever moves to
 * the candidate as its share grows; without an end user each call draws anew. Propensities are within the policy that
 * decided, which is logged, so both may be evaluated alike.
 */
export function variantDraw(
  rolloutId: string,
  workspaceUuid: string,
  endUser: string | undefined,
  random: () => number,
): number {
  if (endUser === undefined) return random();
  const digest = hash('sha256', `${rolloutId} ${workspaceUuid} ${endUser}`, 'buffer');
  return digest.readUIntBE(0, 6) / 2 ** 48;
}
