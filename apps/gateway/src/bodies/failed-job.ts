import type { Refusal } from '@sluice/contracts';
import type { Call } from '../call.ts';
import { cancelRefusal } from '../pipeline.ts';
import type { JobEnd } from './body-pool.ts';

/** What the caller reads when its request's body could not be worked on. */
export function failedJob(call: Call, kind: Exclude<JobEnd<unknown>['kind'], 'done'>): Refusal {
  switch (kind) {
    case 'cancelled':
      return cancelRefusal(call);
    case 'no_turn':
      return {
        code: 'shed',
        message: 'Too many large request bodies are waiting to be read; send this one again.',
        retryAfterMs: 1_000,
      };
    case 'died':
      return {
        code: 'body_too_large',
        message: 'The request body takes more memory than there is to read one; send a smaller or simpler one.',
      };
    case 'too_long':
      return {
        code: 'body_too_large',
        message: 'The request body takes longer to read than a body may; send a smaller or simpler one.',
      };
  }
}
