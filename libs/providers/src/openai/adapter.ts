import type { Clock, ProviderAdapter } from '@sluice/contracts';
import {
  buildChatRequest,
  createAnthropicReaderOfOpenai,
  judgeForOpenai,
  readCompletionForAnthropic,
  translateFaultToAnthropic,
} from '../translate/anthropic_openai/index.ts';
import { buildOpenaiRequest } from './build-request.ts';
import { classifyOpenai } from './classify.ts';
import { readOpenaiWhole } from './read-whole.ts';
import { createOpenaiStreamReader } from './stream-reader.ts';

/** OpenAI and every service that speaks its protocol; Anthropic's messages are translated. */
export function createOpenaiAdapter({ clock }: { clock: Pick<Clock, 'now'> }): ProviderAdapter {
  return {
    dialect: 'openai',
    operations: ['chat', 'embeddings'],
    translates: ['messages'],
    judge: (call, carryFields) => (call.operation === 'messages' ? judgeForOpenai(call, carryFields) : undefined),
    buildRequest: (call, target) =>
      call.operation === 'messages' ? buildChatRequest(call, target) : buildOpenaiRequest(call, target),
    classify(status, headers, body, call) {
      const fault = classifyOpenai(status, headers, body, clock.now());
      return call.operation === 'messages' ? translateFaultToAnthropic(fault) : fault;
    },
    readWhole: (call, body, expectedInput) =>
      call.operation === 'messages' ? readCompletionForAnthropic(body, expectedInput) : readOpenaiWhole(body),
    createStreamReader: (call, expectedInput) =>
      call.operation === 'messages' ? createAnthropicReaderOfOpenai(expectedInput) : createOpenaiStreamReader(call),
  };
}
