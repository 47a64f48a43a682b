import type { UpstreamFault, WholeAnswer } from '@sluice/contracts';
import { kindOfError, parseJson } from '../classify-status.ts';
import { topLevelMembers } from '../json-splice.ts';
import { asObject, textLength } from '../token-count.ts';
import { openaiUsage } from './usage.ts';

/**
 * Embeddings of a thousand texts are some 20 MB of numbers: parsed, they stop the process for a quarter of a
 * second, and take as much memory again.
 */
const LARGE_BYTES = 256 * 1024;
const OPEN_BRACKET = 0x5b;
const EMPTY_LIST = Buffer.from('[]');

/** The answer with its `data`, which says nothing about use, as an empty list; its numbers go to the caller unread. */
function parseWithoutData(body: Buffer): unknown {
  try {
    const data = topLevelMembers(body).findLast(({ key }) => key === 'data');
    if (data === undefined || body[data.valueStart] !== OPEN_BRACKET) return parseJson(body);
    return parseJson(Buffer.concat([body.subarray(0, data.valueStart), EMPTY_LIST, body.subarray(data.valueEnd)]));
  } catch {
    // A name among the members cannot be read.
    return undefined;
  }
}

/** A whole chat completion or embedding answer. */
export function readOpenaiWhole(body: Buffer): WholeAnswer | UpstreamFault {
  const answer = asObject(body.length > LARGE_BYTES ? parseWithoutData(body) : parseJson(body));
  if (answer === undefined) return { kind: 'malformed', status: 200, detail: 'the answer is not a JSON object' };
  const error = asObject(answer.error);
  if (error !== undefined)
    return {
      kind: kindOfError(error),
      status: 200,
      detail: `an error in a 200 answer: ${String(error.code ?? error.type)}`,
    };
  if (!Array.isArray(answer.choices) && !Array.isArray(answer.data))
    return { kind: 'malformed', status: 200, detail: 'the answer has neither choices nor data' };
  let outputChars = 0;
  let finishReason: string | undefined;
  for (const item of Array.isArray(answer.choices) ? answer.choices : []) {
    const choice = asObject(item);
    const message = asObject(choice?.message);
    outputChars += textLength(message?.content) + otherChars(message);
    if (typeof choice?.finish_reason === 'string') finishReason ??= choice.finish_reason;
  }
  return {
    usage: openaiUsage(answer.usage),
    finishReason,
    model: typeof answer.model === 'string' ? answer.model : undefined,
    outputChars,
  };
}

/** Base64 of the audio of one token: 50 ms of 24 kHz in 16 bits, the only form in which audio is streamed. */
const AUDIO_CHARS_PER_TOKEN = 3_200;
const TEXT_CHARS_PER_TOKEN = 4;

/**
 * Length of all that a message or delta says beside its plain text: refusal, tool calls (the legacy function call
 * too), reasoning, speech.
 */
export function otherChars(part: Readonly<Record<string, unknown>> | undefined): number {
  if (part === undefined) return 0;
  let chars =
    textLength(part.refusal) +
    textLength(part.reasoning_content) +
    textLength(part.reasoning) +
    callChars(part.function_call);
  if (Array.isArray(part.tool_calls)) for (const call of part.tool_calls) chars += callChars(asObject(call)?.function);
  const audio = asObject(part.audio);
  if (audio === undefined) return chars;
  const spoken =
    typeof audio.data === 'string' ? Math.ceil((audio.data.length * TEXT_CHARS_PER_TOKEN) / AUDIO_CHARS_PER_TOKEN) : 0;
  return chars + spoken + textLength(audio.transcript);
}

function callChars(value: unknown): number {
  const fn = asObject(value);
  return textLength(fn?.name) + textLength(fn?.arguments);
}
