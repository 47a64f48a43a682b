import type { Clock, ProviderAdapter } from '@sluice/contracts';
import { buildAnthropicRequest } from './build-request.ts';
import { classifyAnthropic } from './classify.ts';
import { readAnthropicWhole } from './read-whole.ts';
import { createAnthropicStreamReader } from './stream-reader.ts';

/** Anthropic's Messages protocol. */
export function createAnthropicAdapter({ clock }: { clock: Pick<Clock, 'now'> }): ProviderAdapter {
  return {
    dialect: 'anthropic',
    operations: ['messages', 'count_tokens'],
    translates: [],
    judge: () => undefined,
    buildRequest: buildAnthropicRequest,
    classify: (status, headers, body) => classifyAnthropic(status, headers, body, clock.now()),
    readWhole: readAnthropicWhole,
    createStreamReader: createAnthropicStreamReader,
  };
}
