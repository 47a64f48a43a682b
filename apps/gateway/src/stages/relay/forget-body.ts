import type { InboundCall } from '@sluice/contracts';
import type { Call, Resolved } from '../../call.ts';
import { isOpaque, textTokensOf } from '../../bodies/facts-of.ts';

/** Smaller bodies are no weight; to forget them would cost more than they do. */
const SMALL_BYTES = 8 * 1024;
const NO_BYTES = Buffer.alloc(0);
const NO_BODY: InboundCall['body'] = Object.freeze({});

/**
 * Lets go of a request's body and of what was parsed from it. A stream that has begun is not sent a second time,
 * and it may run for minutes: conversations of a megabyte, each held three times, would fill the process. What the
 * settlement may have to know of the text, where the provider counts nothing, is counted before.
 */
export function forgetBody(call: Call): void {
  call.freeBody?.();
  const resolved = call.resolved as Resolved;
  if (resolved.bodyBytes <= SMALL_BYTES) return;
  call.forgotten = { textTokens: textTokensOf(resolved.inbound), isOpaque: isOpaque(resolved.inbound) };
  call.body = undefined;
  call.json = undefined;
  call.bodyIndex = undefined;
  call.largeBody = undefined;
  const { index: _index, large: _large, ...inbound } = resolved.inbound;
  call.resolved = { ...resolved, inbound: { ...inbound, bytes: NO_BYTES, body: NO_BODY } };
}
