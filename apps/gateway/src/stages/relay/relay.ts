import type { Call, Resolved } from '../../call.ts';
import type { Stage } from '../../stage.ts';
import type { StreamEnd, StreamOpenAnswer } from '../../upstream/open-answer.ts';
import { cancelRefusal } from '../../pipeline.ts';
import { setAnswerHeaders } from '../../http/answer-headers.ts';
import { finalRefusal } from '../../upstream/next-step.ts';
import type { LimitStore, Refusal } from '@sluice/contracts';
import type { CompiledKey } from '../../compiled-config.ts';
import type { Estimator } from '../../metering/estimator.ts';
import { expectedInput } from '../../metering/estimated-input.ts';
import { finalUsage, seenOf } from '../../metering/final-usage.ts';
import { forgetBody } from './forget-body.ts';
import { createReaderWatch, type ReaderWatch } from './reader-watch.ts';
import { cutStream } from './stream-ending.ts';
import { StreamTopUp } from './stream-top-up.ts';

export interface RelayDeps {
  readonly limits: Pick<LimitStore, 'topUp'>;
  readonly estimator: Pick<Estimator, 'charsPerToken'>;
  /** A reservation could not be topped up because the store failed. */
  readonly onTopUpFault: (call: Call, error: unknown) => void;
  /** Over how long a client that is behind must keep the minimum rate; 30 s when absent. */
  readonly slowReaderMs?: number;
}

/**
 * Streams go to the client buffer by buffer, in the tick they come; the one with the end marker stays back for
 * settle. A whole answer is sent by settle altogether, because its headers carry the price.
 */
export function createRelayStage(deps: RelayDeps): Stage {
  const readers = createReaderWatch(deps.slowReaderMs === undefined ? {} : { windowMs: deps.slowReaderMs });
  return {
    name: 'relay',
    run(call) {
      const answer = call.answer;
      if (answer === undefined || answer.kind === 'whole') return undefined;
      return relayStream(call, answer, deps, readers);
    },
  };
}

function relayStream(
  call: Call,
  answer: StreamOpenAnswer,
  deps: RelayDeps,
  readers: ReaderWatch,
): Promise<Refusal | undefined> {
  const { response } = call;
  forgetBody(call);
  if (!response.committed) {
    setAnswerHeaders(call);
    response.commit(200, { stream: true, contentType: answer.contentType });
  }
  return new Promise((resolve) => {
    let finished = false;
    /** A hard quota has run out and the workspace asked to be cut then. */
    let stopping = false;
    const topUp = topUpOf(call, deps, () => {
      stopping = (call.key as CompiledKey).workspace.policy.stopMidStream;
    });
    const reader = readers.follow((call.key as CompiledKey).workspace.tenant.id, response, answer, () =>
      call.cancel.cancel('slow_reader'),
    );
    let unsubscribe: () => void = () => undefined;
    const finish = (refusal: Refusal | undefined): void => {
      if (finished) return;
      finished = true;
      reader.upstreamEnded();
      unsubscribe();
      resolve(refusal);
    };
    unsubscribe = call.cancel.onCancel(() => {
      answer.abort();
      finish(cancelRefusal(call));
    });
    if (finished) return;
    response.onDrain(() => reader.caughtUp());
    answer.attach({
      onBytes(chunk) {
        if (finished) return;
        if (answer.reader.ended) {
          // A short answer may be over before it is attached: then all of its buffers come here.
          call.tail = call.tail === undefined ? chunk : Buffer.concat([call.tail, chunk]);
          return;
        }
        topUp.seen(answer.reader.outputChars);
        if (stopping && stopAt(call, answer, chunk)) {
          finish(undefined);
          return;
        }
        reader.wrote(chunk.length, response.write(chunk));
      },
      onEnd(end: StreamEnd) {
        finish(end.kind === 'end' ? undefined : finalRefusal(end.fault));
      },
    });
  });
}

function topUpOf(call: Call, { limits, estimator, onTopUpFault }: RelayDeps, onExhausted: () => void): StreamTopUp {
  const { candidates, billedPrice } = call.resolved as Resolved;
  return new StreamTopUp({
    limits,
    lease: call.lease as NonNullable<Call['lease']>,
    reservedTokens: call.reservation?.outputTokens ?? 0,
    charsPerToken: estimator.charsPerToken((call.key as CompiledKey).workspace.workspace.slug, candidates[0].id),
    price: billedPrice,
    onExhausted,
    onFault: (error) => onTopUpFault(call, error),
  });
}

/**
 * Ends the stream correctly after this buffer and stops the provider; false when this buffer offers no place for
 * it.
 */
function stopAt(call: Call, answer: StreamOpenAnswer, chunk: Buffer): boolean {
  const { inbound, choices } = call.resolved as Resolved;
  const { usage } = finalUsage({ ...seenOf(answer.reader), ended: false, finished: false, givenUp: true }, () =>
    expectedInput(call),
  );
  const cut = cutStream(
    call.dialect,
    chunk,
    choices,
    call.dialect === 'anthropic' || inbound.wantsUsage ? usage : undefined,
  );
  if (cut === undefined) return false;
  call.response.write(cut.forward);
  call.tail = cut.ending;
  call.stoppedByQuota = true;
  answer.abort();
  return true;
}
