import type { TokenUsage } from '@sluice/contracts';

/** Input side and output side of a usage. */
export function tokenSides(tokens: TokenUsage): { input: number; output: number } {
  return {
    input: tokens.input + tokens.cache_read + tokens.cache_write,
    output: tokens.output + tokens.reasoning + tokens.audio,
  };
}
