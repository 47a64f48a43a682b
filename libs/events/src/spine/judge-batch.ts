import type { EventHandler, IncomingEvent } from '@sluice/contracts';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Which messages of a batch failed, and why. Bodies that are not JSON fail by themselves; a handler that throws or
 * takes longer than `timeoutMs` fails all that it was given.
 */
export async function judgeBatch(events: readonly IncomingEvent[], handler: EventHandler, timeoutMs: number): Promise<Map<string, string>> {
  const failed = new Map<string, string>();
  const readable = events.filter((event) => {
    if (isJson(event.body)) return true;
    failed.set(event.messageId, 'the body is not JSON');
    return false;
  });
  if (readable.length === 0) return failed;
  let timer: NodeJS.Timeout | undefined;
  try {
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`the handler took longer than ${timeoutMs} ms`)), timeoutMs);
    });
    const verdict = await Promise.race([handler(readable), late]);
    for (const [id, reason] of verdict.failed) failed.set(id, reason);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    for (const event of readable) failed.set(event.messageId, reason);
  } finally {
    clearTimeout(timer);
  }
  return failed;
}
