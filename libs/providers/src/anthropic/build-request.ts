import type { InboundCall, Refusal, UpstreamRequest, UpstreamTarget } from '@sluice/contracts';
import { spliceTopLevel, type Splice } from '../json-splice.ts';
import { withoutMarkers } from '../tenant-marker.ts';
import { endpoint, upstreamHeaders } from '../upstream-headers.ts';

const PATH: Partial<Record<InboundCall['operation'], string>> = {
  messages: '/v1/messages',
  count_tokens: '/v1/messages/count_tokens',
};
const DEFAULT_VERSION = '2023-06-01';

/** The caller's bytes with the model's name put in; everything else, beta headers too, stays as it came. */
export function buildAnthropicRequest(call: InboundCall, target: UpstreamTarget): UpstreamRequest | Refusal {
  const path = PATH[call.operation];
  if (path === undefined) {
    return {
      code: 'unsupported_field',
      param: 'model',
      message: `This model's provider speaks the Anthropic protocol and cannot serve ${call.operation} calls.`,
    };
  }
  const splices: Splice[] = [];
  if (call.body.model !== target.providerModel) splices.push(['model', target.providerModel]);
  splices.push(...withoutMarkers(call));
  const auth = target.secret === undefined ? [] : ['x-api-key', target.secret];
  if (call.forwardHeaders['anthropic-version'] === undefined && target.extraHeaders['anthropic-version'] === undefined)
    auth.push('anthropic-version', DEFAULT_VERSION);
  // The one query that the protocol has; anything else of a caller's stays behind.
  const query = call.query === 'beta=true' ? '?beta=true' : '';
  return {
    method: 'POST',
    ...endpoint(target.baseUrl, path + query),
    headers: upstreamHeaders(call, target, auth),
    body: spliceTopLevel(call.bytes, splices, call.index),
  };
}
