/**
 * OpenAI's word for why an answer ended, in Anthropic's: a tool is to be used exactly where one is named, whatever word
 * the provider has for it. Whether a stop sequence ended the answer, OpenAI does not say.
 */
export function stopReasonOf(finishReason: unknown, hasTools: boolean, refused: boolean): string {
  if (refused || finishReason === 'content_filter') return 'refusal';
  if (finishReason === 'length') return 'max_tokens';
  return hasTools ? 'tool_use' : 'end_turn';
}
