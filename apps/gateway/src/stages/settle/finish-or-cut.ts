import type { ClientResponse } from '../../http/client-response.ts';
import { MIN_BYTES_PER_SECOND } from '../relay/reader-watch.ts';

/** Over how long a client must keep the minimum rate while bytes wait for it. */
const STALL_MS = 30_000;
/** Of a large answer more must be taken: all of it within this many such spans, 10 min. */
const MOST_STALLS = 20;

/**
 * Sends the last bytes and waits until they have left, so that slots are not free before; but not for ever: a client that
 * stops reading, or nearly, is cut and holds nothing, and a whole answer of many megabytes is not kept for hours.
 */
export function finishOrCut(response: ClientResponse, last: Buffer | undefined, stallMs = STALL_MS): Promise<void> {
  const left = response.finish(last);
  return response.bufferedBytes === 0 ? left : cutWhenStalled(response, left, stallMs);
}

async function cutWhenStalled(response: ClientResponse, left: Promise<void>, stallMs: number): Promise<void> {
  let before = response.bufferedBytes;
  const least = Math.max(1, (MIN_BYTES_PER_SECOND * stallMs) / 1000, before / MOST_STALLS);
  const watch = setInterval(() => {
    if (before - response.bufferedBytes < least) response.destroy();
    before = response.bufferedBytes;
  }, stallMs);
  try {
    await left;
  } finally {
    clearInterval(watch);
  }
}
