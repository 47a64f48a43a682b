import type { TokenUsage } from '@sluice/contracts';
import type { Call, CallFigures } from '../../call.ts';

const LF = 0x0a;
const CR = 0x0d;

/**
 * The last bytes of a stream with the event `usage` put before its last event, which is the dialect's end marker: for
 * callers that asked for it. Readers forward whole events, so the last one stands in these bytes altogether.
 */
export function tailWithUsage(call: Call, tail: Buffer, figures: CallFigures, latencyMs: number): Buffer {
  const at = startOfLastEvent(tail);
  return Buffer.concat([tail.subarray(0, at), usageEvent(call, figures, latencyMs), tail.subarray(at)]);
}

/** Where the last event begins: after the blank line before it, however lines end; 0 when it is the only one. */
function startOfLastEvent(bytes: Buffer): number {
  let end = bytes.length;
  while (end > 0 && isLineEnd(bytes[end - 1])) end -= 1;
  for (let at = end; at > 1; at -= 1) {
    if (!isLineEnd(bytes[at - 1])) continue;
    const lineEnd = bytes[at - 1] === LF && bytes[at - 2] === CR ? at - 2 : at - 1;
    if (isLineEnd(bytes[lineEnd - 1])) return at;
    at = lineEnd + 1;
  }
  return 0;
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === LF || byte === CR;
}

function usageEvent(call: Call, figures: CallFigures, latencyMs: number): Buffer {
  const usage: TokenUsage = figures.usage;
  const data = {
    tokens: usage,
    cost_nanousd: figures.billedNanoUsd,
    latency_ms: Math.round(latencyMs),
    model: call.answer?.attempt.model,
    provider: call.answer?.attempt.provider.id,
  };
  return Buffer.from(`event: usage\ndata: ${JSON.stringify(data)}\n\n`);
}
