/**
 * Anthropic's word for why an answer ended, in OpenAI's. A JSON answer is given through a tool, which is no tool to
 * the caller.
 */
export function finishReasonOf(stopReason: unknown, isJsonAnswer: boolean): string {
  switch (stopReason) {
    case 'tool_use':
      return isJsonAnswer ? 'stop' : 'tool_calls';
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    case 'refusal':
      return 'content_filter';
    default:
      return 'stop';
  }
}
