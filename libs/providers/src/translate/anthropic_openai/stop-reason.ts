/** OpenAI's word for why an answer ended, in Anthropic's. Whether a stop sequence ended it, OpenAI does not say. */
export function stopReasonOf(finishReason: unknown): string {
  switch (finishReason) {
    case 'tool_calls':
    case 'function_call':
      return 'tool_use';
    case 'length':
      return 'max_tokens';
    case 'content_filter':
      return 'refusal';
    default:
      return 'end_turn';
  }
}
