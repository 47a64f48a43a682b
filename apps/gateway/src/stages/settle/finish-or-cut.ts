import type { Call } from '../../call.ts';
import type { UnreadAnswers } from './unread-answers.ts';

/**
 * Sends the last bytes and waits until they have left, so that slots are not free before; but not for ever: a
 * client that stops reading, or nearly, is cut and holds nothing. So is one of a tenant whose clients keep too much
 * unread.
 *
 * @param last what is sent, after what was sent before.
 * @param heldBytes what of `last` counts against its tenant's memory for whole answers.
 */
export function finishOrCut(call: Call, last: Buffer | undefined, unread: UnreadAnswers, heldBytes = 0): Promise<void> {
  const { response } = call;
  const left = response.finish(last);
  return response.bufferedBytes === 0 ? left : waitFor(call, left, unread, heldBytes);
}

async function waitFor(call: Call, left: Promise<void>, unread: UnreadAnswers, heldBytes: number): Promise<void> {
  call.cutFor = await unread.wait(call.response, left, call.key?.workspace.tenant.id ?? '', heldBytes);
}
