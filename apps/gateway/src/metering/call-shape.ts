import type { Resolved } from '../call.ts';
import type { CompiledKey } from '../compiled-config.ts';
import { bytesFloor, type CallShape, payloadTokens } from './estimator.ts';

/** What the estimator knows of a call before it runs. */
export function shapeOf(key: CompiledKey, resolved: Resolved): CallShape {
  return {
    workspace: key.workspace.workspace.slug,
    model: resolved.candidates[0].id,
    bodyBytes: resolved.bodyBytes - resolved.payloads.bytes,
    payloadTokens: payloadTokens(resolved.payloads),
    floorTokens: bytesFloor(resolved.weighedBytes, resolved.payloads),
    choices: resolved.choices,
    maxOutputTokens: resolved.maxOutputTokens,
    defaultOutputTokens: key.workspace.policy.defaultOutputTokens,
  };
}
