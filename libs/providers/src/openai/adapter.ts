import type { Clock, ProviderAdapter } from '@sluice/contracts';
import { buildOpenaiRequest } from './build-request.ts';
import { classifyOpenai } from './classify.ts';
import { readOpenaiWhole } from './read-whole.ts';
import { createOpenaiStreamReader } from './stream-reader.ts';

/** OpenAI and every service that speaks its protocol. */
export function createOpenaiAdapter({ clock }: { clock: Pick<Clock, 'now'> }): ProviderAdapter {
  return {
    dialect: 'openai',
    operations: ['chat', 'embeddings'],
    translates: [],
    judge: () => undefined,
    buildRequest: buildOpenaiRequest,
    classify: (status, headers, body) => classifyOpenai(status, headers, body, clock.now()),
    readWhole: (_call, body) => readOpenaiWhole(body),
    createStreamReader: createOpenaiStreamReader,
  };
}
