import type { Clock, ProviderAdapter } from '@sluice/contracts';
import {
  buildMessageRequest,
  createOpenaiReaderOfAnthropic,
  judgeForAnthropic,
  readMessageForOpenai,
  translateFaultToOpenai,
} from '../translate/openai_anthropic/index.ts';
import { buildAnthropicRequest } from './build-request.ts';
import { classifyAnthropic } from './classify.ts';
import { readAnthropicWhole } from './read-whole.ts';
import { createAnthropicStreamReader } from './stream-reader.ts';

/** Anthropic's Messages protocol; OpenAI's chat completions are translated. */
export function createAnthropicAdapter({ clock }: { clock: Pick<Clock, 'now'> }): ProviderAdapter {
  return {
    dialect: 'anthropic',
    operations: ['messages', 'count_tokens'],
    translates: ['chat'],
    judge: (call, carryFields) => (call.operation === 'chat' ? judgeForAnthropic(call, carryFields) : undefined),
    buildRequest: (call, target) =>
      call.operation === 'chat' ? buildMessageRequest(call, target) : buildAnthropicRequest(call, target),
    classify(status, headers, body, call) {
      const fault = classifyAnthropic(status, headers, body, clock.now());
      return call.operation === 'chat' ? translateFaultToOpenai(fault) : fault;
    },
    readWhole: (call, body, expectedInput) =>
      call.operation === 'chat'
        ? readMessageForOpenai(call, body, clock.now(), expectedInput)
        : readAnthropicWhole(call, body),
    createStreamReader: (call, expectedInput) =>
      call.operation === 'chat'
        ? createOpenaiReaderOfAnthropic(call, clock.now, expectedInput)
        : createAnthropicStreamReader(call),
  };
}
