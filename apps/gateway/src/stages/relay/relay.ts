import type { Call } from '../../call.ts';
import type { Stage } from '../../stage.ts';
import type { StreamEnd, StreamOpenAnswer } from '../../upstream/open-answer.ts';
import { cancelRefusal } from '../../pipeline.ts';
import { setAnswerHeaders } from './answer-headers.ts';
import { finalRefusal } from '../attempt/next-step.ts';
import type { Refusal } from '@sluice/contracts';

/** What one stream may keep for a client that reads slower than the provider writes. */
const MAX_BUFFERED_BYTES = 256 * 1024;
/** A client that takes nothing for this long, with its buffer full, is cut. */
const SLOW_READER_MS = 30_000;

/**
 * Streams go to the client buffer by buffer, in the tick they come; the one with the end marker stays back for settle. A
 * whole answer is sent by settle altogether, because its headers carry the price.
 */
export function createRelayStage({ slowReaderMs = SLOW_READER_MS }: { slowReaderMs?: number } = {}): Stage {
  return {
    name: 'relay',
    run(call) {
      const answer = call.answer;
      if (answer === undefined || answer.kind === 'whole') return undefined;
      return relayStream(call, answer, slowReaderMs);
    },
  };
}

function relayStream(call: Call, answer: StreamOpenAnswer, slowReaderMs: number): Promise<Refusal | undefined> {
  const { response } = call;
  if (!response.committed) {
    setAnswerHeaders(call);
    response.commit(200, { stream: true, contentType: answer.contentType });
  }
  return new Promise((resolve) => {
    let paused = false;
    let slowTimer: NodeJS.Timeout | undefined;
    let finished = false;
    let unsubscribe: () => void = () => undefined;
    const finish = (refusal: Refusal | undefined): void => {
      if (finished) return;
      finished = true;
      clearTimeout(slowTimer);
      unsubscribe();
      resolve(refusal);
    };
    unsubscribe = call.cancel.onCancel(() => {
      answer.abort();
      finish(cancelRefusal(call));
    });
    if (finished) return;
    response.onDrain(() => {
      if (!paused) return;
      paused = false;
      clearTimeout(slowTimer);
      answer.resume();
    });
    answer.attach({
      onBytes(chunk) {
        if (finished) return;
        if (answer.reader.ended) {
          // A short answer may be over before it is attached: then all of its buffers come here.
          call.tail = call.tail === undefined ? chunk : Buffer.concat([call.tail, chunk]);
          return;
        }
        if (!response.write(chunk) && !paused && response.bufferedBytes > MAX_BUFFERED_BYTES) {
          paused = true;
          answer.pause();
          slowTimer = setTimeout(() => call.cancel.cancel('slow_reader'), slowReaderMs);
        }
      },
      onEnd(end: StreamEnd) {
        finish(end.kind === 'end' ? undefined : finalRefusal(end.fault));
      },
    });
  });
}
