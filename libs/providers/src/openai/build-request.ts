import type { InboundCall, Refusal, UpstreamRequest, UpstreamTarget } from '@sluice/contracts';
import { spliceTopLevel, type Splice } from '../json-splice.ts';
import { asObject } from '../token-count.ts';
import { withoutMarkers } from '../tenant-marker.ts';
import { endpoint, upstreamHeaders } from '../upstream-headers.ts';

const PATH: Partial<Record<InboundCall['operation'], string>> = {
  chat: '/chat/completions',
  embeddings: '/embeddings',
};

/** The caller's bytes with the model's name and the wish for usage put in; everything else stays as it came. */
export function buildOpenaiRequest(call: InboundCall, target: UpstreamTarget): UpstreamRequest | Refusal {
  const path = PATH[call.operation];
  if (path === undefined) {
    return {
      code: 'unsupported_field',
      param: 'model',
      message: `This model's provider speaks the OpenAI protocol and cannot serve ${call.operation} calls.`,
    };
  }
  const splices: Splice[] = [];
  if (call.body.model !== target.providerModel) splices.push(['model', target.providerModel]);
  if (call.operation === 'chat' && call.stream && !call.wantsUsage) {
    splices.push(['stream_options', { ...asObject(call.body.stream_options), include_usage: true }]);
  }
  splices.push(...withoutMarkers(call));
  return {
    method: 'POST',
    ...endpoint(target.baseUrl, path),
    headers: upstreamHeaders(
      call,
      target,
      target.secret === undefined ? [] : ['authorization', `Bearer ${target.secret}`],
    ),
    body: spliceTopLevel(call.bytes, splices, call.index),
  };
}
