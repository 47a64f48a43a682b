/**
 * Anthropic's word for why an answer ended, in OpenAI's: tools are called exactly where a call is given. A JSON answer is
 * given through a tool, which is no tool to the caller.
 */
export function finishReasonOf(stopReason: unknown, hasCalls: boolean): string {
  switch (stopReason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    case 'refusal':
      return 'content_filter';
    default:
      return hasCalls ? 'tool_calls' : 'stop';
  }
}
