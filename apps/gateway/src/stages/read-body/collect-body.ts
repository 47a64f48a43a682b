import type { IncomingMessage } from 'node:http';
import type { CancelToken } from '../../cancel-token.ts';

export type CollectedBody =
  | { readonly kind: 'whole'; readonly body: Buffer }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'no_room' }
  | { readonly kind: 'silence' }
  | { readonly kind: 'gone' };

/**
 * Reads a request body into one buffer, never more than `maxBytes` of it.
 *
 * @param hasRoom asked with each part but the first, which is one read of a socket; false ends the reading.
 * @param silenceMs how long the caller may send nothing before the body counts as never coming.
 */
export function collectBody(
  request: IncomingMessage,
  maxBytes: number,
  silenceMs: number,
  cancel: CancelToken,
  hasRoom: (size: number) => boolean,
): Promise<CollectedBody> {
  return new Promise((resolve) => {
    let first: Buffer | undefined;
    let chunks: Buffer[] | undefined;
    let size = 0;
    /**
     * Forgotten once it was called: a promise keeps what it was resolved with, and who can resolve it keeps the
     * promise.
     */
    let give: typeof resolve | undefined = resolve;
    let unsubscribe: () => void = () => undefined;
    const settle = (result: CollectedBody): void => {
      const done = give;
      if (done === undefined) return;
      clearTimeout(timer);
      unsubscribe();
      // The listeners stay, which costs less than to take them off: they must not keep what was collected.
      first = chunks = give = undefined;
      done(result);
    };
    const onData = (chunk: Buffer): void => {
      if (give === undefined) return;
      timer.refresh();
      size += chunk.length;
      if (size > maxBytes) {
        request.pause();
        settle({ kind: 'too_large' });
        return;
      }
      if (first === undefined) {
        first = chunk;
        return;
      }
      (chunks ??= [first]).push(chunk);
      if (hasRoom(size)) return;
      request.pause();
      settle({ kind: 'no_room' });
    };
    const onEnd = (): void => {
      if (give !== undefined)
        settle({
          kind: 'whole',
          body: chunks === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(chunks, size),
        });
    };
    const onClose = (): void => settle({ kind: 'gone' });
    const timer = setTimeout(() => settle({ kind: 'silence' }), silenceMs);
    timer.unref();
    unsubscribe = cancel.onCancel(() => settle({ kind: 'gone' }));
    if (cancel.reason !== undefined) return;

    request.on('data', onData);
    request.on('end', onEnd);
    request.on('close', onClose);
  });
}
