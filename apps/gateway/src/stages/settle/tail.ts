import type { TokenUsage } from '@sluice/contracts';
import type { Call, CallFigures } from '../../call.ts';

const OPENAI_END = Buffer.from('data: [DONE]');
const ANTHROPIC_END = Buffer.from('event: message_stop');

/**
 * The last bytes of a stream with the event `usage` put before the end marker, for callers that asked for it. Where the
 * marker's start was in an earlier buffer the event would break it, so it is left out then.
 */
export function tailWithUsage(call: Call, tail: Buffer, figures: CallFigures, latencyMs: number): Buffer {
  const at = tail.lastIndexOf(call.dialect === 'openai' ? OPENAI_END : ANTHROPIC_END);
  if (at < 0) return tail;
  return Buffer.concat([tail.subarray(0, at), usageEvent(call, figures, latencyMs), tail.subarray(at)]);
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
