import { parseJson } from '../../classify-status.ts';
import { asObject } from '../../token-count.ts';
import { asText } from '../carrier.ts';

/** Anthropic's error body as OpenAI's; undefined when it cannot be read, and then the caller reads our own words. */
export function toOpenaiError(body: Buffer): Buffer | undefined {
  const error = asObject(asObject(parseJson(body))?.error);
  const message = asText(error?.message);
  if (message === undefined) return undefined;
  const type = asText(error?.type) ?? 'invalid_request_error';
  return Buffer.from(
    JSON.stringify({
      error: {
        message,
        type,
        param: null,
        code: /prompt is too long|exceed context limit/i.test(message) ? 'context_length_exceeded' : null,
      },
    }),
  );
}
