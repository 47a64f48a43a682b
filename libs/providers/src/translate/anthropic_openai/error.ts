import type { UpstreamFault } from '@sluice/contracts';
import { parseJson } from '../../classify-status.ts';
import { errorIn } from '../../error-words.ts';
import { asText } from '../carrier.ts';

const TYPE: Readonly<Record<number, string>> = { 404: 'not_found_error', 413: 'request_too_large' };

/** OpenAI's error body as Anthropic's; undefined when it cannot be read, and then the caller reads our own words. */
export function toAnthropicError(status: number, body: Buffer): Buffer | undefined {
  const error = errorIn(parseJson(body));
  const message = asText(error?.message);
  if (message === undefined) return undefined;
  // The parameter has no field of its own; agents look for these words where a prompt is too long.
  const told = error?.code === 'context_length_exceeded' ? `prompt is too long: ${message}` : message;
  return Buffer.from(
    JSON.stringify({ type: 'error', error: { type: TYPE[status] ?? 'invalid_request_error', message: told } }),
  );
}

/** The provider's words about the caller's request in the caller's dialect. */
export function anthropicFaultOf(fault: UpstreamFault): UpstreamFault {
  if (fault.body === undefined) return fault;
  const { body: _body, contentType: _contentType, ...rest } = fault;
  const body = toAnthropicError(fault.status ?? 400, fault.body);
  return body === undefined ? rest : { ...rest, body, contentType: 'application/json' };
}
