import type { ClientResponse } from '../../http/client-response.ts';

/** A client that takes not one byte for this long while some wait for it is cut. */
const STALL_MS = 30_000;

/**
 * Sends the last bytes and waits until they have left, so that slots are not free before; but not for ever: a client that
 * stops reading is cut and holds nothing.
 */
export async function finishOrCut(response: ClientResponse, last: Buffer | undefined, stallMs = STALL_MS): Promise<void> {
  const left = response.finish(last);
  if (response.bufferedBytes === 0) return left;
  let before = response.bufferedBytes;
  const watch = setInterval(() => {
    if (response.bufferedBytes >= before) response.destroy();
    before = response.bufferedBytes;
  }, stallMs);
  try {
    await left;
  } finally {
    clearInterval(watch);
  }
}
