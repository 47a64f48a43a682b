import type { UpstreamFault, WholeAnswer } from '@sluice/contracts';
import { kindOfError, parseJson } from '../classify-status.ts';
import { asObject, textLength } from '../token-count.ts';
import { openaiUsage } from './usage.ts';

/** A whole chat completion or embedding answer. */
export function readOpenaiWhole(body: Buffer): WholeAnswer | UpstreamFault {
  const answer = asObject(parseJson(body));
  if (answer === undefined) return { kind: 'malformed', status: 200, detail: 'the answer is not a JSON object' };
  const error = asObject(answer.error);
  if (error !== undefined) return { kind: kindOfError(error), status: 200, detail: `an error in a 200 answer: ${String(error.code ?? error.type)}` };
  if (!Array.isArray(answer.choices) && !Array.isArray(answer.data)) return { kind: 'malformed', status: 200, detail: 'the answer has neither choices nor data' };
  let outputChars = 0;
  let finishReason: string | undefined;
  for (const item of Array.isArray(answer.choices) ? answer.choices : []) {
    const choice = asObject(item);
    const message = asObject(choice?.message);
    outputChars += textLength(message?.content) + textLength(message?.refusal) + toolChars(message?.tool_calls);
    if (typeof choice?.finish_reason === 'string') finishReason ??= choice.finish_reason;
  }
  return { usage: openaiUsage(answer.usage), finishReason, model: typeof answer.model === 'string' ? answer.model : undefined, outputChars };
}

/** Characters of tool calls, whole or as deltas. */
export function toolChars(calls: unknown): number {
  if (!Array.isArray(calls)) return 0;
  let chars = 0;
  for (const call of calls) {
    const fn = asObject(asObject(call)?.function);
    chars += textLength(fn?.name) + textLength(fn?.arguments);
  }
  return chars;
}
