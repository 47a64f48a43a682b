import type { UpstreamFault } from '@sluice/contracts';
import { parseJson } from '../../classify-status.ts';
import { errorIn } from '../../error-words.ts';
import { asText } from '../carrier.ts';

/** Anthropic's error body as OpenAI's; undefined when it cannot be read, and then the caller reads our own words. */
export function toOpenaiError(body: Buffer): Buffer | undefined {
  const error = errorIn(parseJson(body));
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

/** The provider's words about the caller's request in the caller's dialect. */
export function openaiFaultOf(fault: UpstreamFault): UpstreamFault {
  if (fault.body === undefined) return fault;
  const { body: _body, contentType: _contentType, ...rest } = fault;
  const body = toOpenaiError(fault.body);
  return body === undefined ? rest : { ...rest, body, contentType: 'application/json' };
}
