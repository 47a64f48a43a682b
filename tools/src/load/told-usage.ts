import { z } from 'zod';
import { inputTokens, outputTokens, TokenUsage } from '@sluice/contracts';

/** Tokens and price as a client is told them. */
export interface ToldUsage {
  readonly input: number;
  readonly output: number;
  readonly costNanoUsd: number | undefined;
}

const Event = z.object({ tokens: TokenUsage, cost_nanousd: z.int() });
const Whole = z.object({ usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int() }) });
const EVENT = 'event: usage\ndata: ';

/**
 * What a chat completion told: a whole answer in its body and its cost header, a stream in the event `usage` that
 * was asked for. Undefined where it did not tell.
 */
export function toldUsage(text: string, stream: boolean, costHeader: string | undefined): ToldUsage | undefined {
  try {
    if (!stream) {
      const { usage } = Whole.parse(JSON.parse(text));
      return {
        input: usage.prompt_tokens,
        output: usage.completion_tokens,
        costNanoUsd: costHeader === undefined ? undefined : Number(costHeader),
      };
    }
    const at = text.lastIndexOf(EVENT);
    if (at < 0) return undefined;
    const event = Event.parse(JSON.parse(text.slice(at + EVENT.length).split('\n', 1)[0] ?? ''));
    return { input: inputTokens(event.tokens), output: outputTokens(event.tokens), costNanoUsd: event.cost_nanousd };
  } catch {
    return undefined;
  }
}
