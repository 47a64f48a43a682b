import type { UpstreamFault, WholeAnswer } from '@sluice/contracts';
import { parseJson } from '../classify-status.ts';
import { errorIn, errorOfChoice, faultOfError } from '../error-words.ts';
import { scanObject } from '../json-scan.ts';
import { asObject, textLength } from '../token-count.ts';
import { openaiServed } from './served.ts';
import { openaiUsage } from './usage.ts';

/**
 * Embeddings of a thousand texts are some 20 MB of numbers: parsed, they stop the process for a quarter of a
 * second, and take as much memory again.
 */
const LARGE_BYTES = 256 * 1024;
const OPEN_BRACKET = 0x5b;
const DATA: ReadonlySet<string> = new Set(['data']);
const EMPTY_LIST = Buffer.from('[]');

/** The answer with its `data`, which says nothing about use, as an empty list; its numbers go to the caller unread. */
function parseWithoutData(body: Buffer): unknown {
  const data = scanObject(body, DATA).index.members.at(-1);
  if (data === undefined || body[data.valueStart] !== OPEN_BRACKET) return parseJson(body);
  return parseJson(Buffer.concat([body.subarray(0, data.valueStart), EMPTY_LIST, body.subarray(data.valueEnd)]));
}

/** A whole chat completion or embedding answer. */
export function readOpenaiWhole(body: Buffer): WholeAnswer | UpstreamFault {
  const value = body.length > LARGE_BYTES ? parseWithoutData(body) : parseJson(body);
  const answer = asObject(value);
  const error = errorIn(value) ?? errorOfChoice(answer);
  if (error !== undefined) return faultOfError(error, 'in a 200 answer');
  if (answer === undefined) return { kind: 'malformed', status: 200, detail: 'the answer is not a JSON object' };
  if (!Array.isArray(answer.choices) && !Array.isArray(answer.data))
    return { kind: 'malformed', status: 200, detail: 'the answer has neither choices nor data' };
  let outputChars = 0;
  let finishReason: string | undefined;
  for (const item of Array.isArray(answer.choices) ? answer.choices : []) {
    const choice = asObject(item);
    const message = asObject(choice?.message);
    outputChars += contentLength(message?.content) + otherChars(message);
    if (typeof choice?.finish_reason === 'string' && choice.finish_reason !== '') finishReason ??= choice.finish_reason;
  }
  return {
    usage: openaiUsage(answer.usage),
    served: openaiServed(answer),
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
  const args = asObject(fn?.arguments);
  return textLength(fn?.name) + (args === undefined ? textLength(fn?.arguments) : JSON.stringify(args).length);
}

/** Length of a content: a text, or parts that hold texts, which may be in parts again. */
export function contentLength(content: unknown): number {
  if (!Array.isArray(content)) return textLength(content);
  let length = 0;
  for (const item of content) {
    const part = asObject(item);
    length += textLength(part?.text) + textLength(part?.refusal) + contentLength(part?.thinking);
  }
  return length;
}
