import { errorWords, type EventHandler, type IncomingEvent } from '@sluice/contracts';
import { bodyFault } from './body-fault.ts';

/**
 * Which messages of a batch failed, and why. A body that nobody can read fails by itself. What is delivered for the
 * first time is handled together; what has failed before is handled alone, so that one message that makes the
 * handler throw cannot take the others of its batch to the dead-letter queue. A handler that throws, or is not done
 * in time, fails all that it was given; the parts of a batch share `timeoutMs` evenly.
 */
export async function judgeBatch(
  events: readonly IncomingEvent[],
  handler: EventHandler,
  timeoutMs: number,
): Promise<Map<string, string>> {
  const failed = new Map<string, string>();
  const readable = events.filter((event) => {
    const fault = bodyFault(event.body);
    if (fault !== undefined) failed.set(event.messageId, fault);
    return fault === undefined;
  });
  const fresh = readable.filter((event) => event.receiveCount <= 1);
  const parts = [
    ...(fresh.length === 0 ? [] : [fresh]),
    ...readable.filter((event) => event.receiveCount > 1).map((event) => [event]),
  ];
  for (const part of parts) await judgePart(part, handler, timeoutMs / parts.length, failed);
  return failed;
}

async function judgePart(
  events: readonly IncomingEvent[],
  handler: EventHandler,
  timeoutMs: number,
  failed: Map<string, string>,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(
        () => reject(new Error(`the handler took longer than ${Math.round(timeoutMs)} ms`)),
        timeoutMs,
      );
    });
    const verdict = await Promise.race([handler(events), late]);
    for (const [id, reason] of verdict.failed) failed.set(id, reason);
  } catch (error) {
    const reason = errorWords(error);
    for (const event of events) failed.set(event.messageId, reason);
  } finally {
    clearTimeout(timer);
  }
}
