import {
  countTokens,
  hashOf,
  readCount,
  readInstruction,
  readModel,
  Refusal,
  speedOf,
  type JsonObject,
  type SimCall,
} from './sim-call.ts';

const DEFAULT_DIMENSIONS = 64;

/** `POST /v1/embeddings`: a call without output that ends after the model's first-token time, and its JSON text. */
export function planEmbeddings(body: JsonObject): { call: SimCall; answer: string } {
  const model = readModel(body);
  const sim = readInstruction(body);
  const dimensions = readCount(body, 'dimensions', 1, 4096) ?? DEFAULT_DIMENSIONS;
  const base64 = body['encoding_format'] === 'base64';
  const inputs = readInputs(body['input']);
  const tokens = inputs.reduce(
    (total, input) => total + (typeof input === 'string' ? countTokens(input) : input.length),
    0,
  );
  const call: SimCall = {
    model,
    stream: false,
    inputTokens: tokens,
    cachedTokens: 0,
    pieces: [],
    calls: [],
    thinking: undefined,
    end: 'stop',
    finishReason: undefined,
    choices: 1,
    ...speedOf(model, sim),
    omitUsage: sim.omit_usage ?? false,
    fail: sim.fail,
    saidUsage: sim.usage,
    usageChunk: false,
    hash: '',
  };
  const data = inputs.map((input, index) => {
    const vector = vectorFor(String(input), dimensions);
    return {
      object: 'embedding',
      index,
      embedding: base64 ? Buffer.from(vector.buffer).toString('base64') : Array.from(vector),
    };
  });
  const usage = call.omitUsage ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } };
  return { call, answer: JSON.stringify({ object: 'list', data, model, ...usage }) };
}

function readInputs(input: unknown): (string | number[])[] {
  if (typeof input === 'string') return [input];
  if (Array.isArray(input) && input.length > 0) {
    if (input.every((one): one is number => typeof one === 'number')) return [input];
    const lists = input.every(
      (one) => typeof one === 'string' || (Array.isArray(one) && one.every((token) => typeof token === 'number')),
    );
    if (lists) return input as (string | number[])[];
  }
  throw new Refusal(400, 'input must be a text, a list of texts, or lists of tokens');
}

/** A unit vector; equal for equal texts. */
function vectorFor(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  let state = hashOf(text);
  let square = 0;
  for (let i = 0; i < dimensions; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const value = state / 2 ** 31 - 1;
    vector[i] = value;
    square += value * value;
  }
  const length = Math.sqrt(square) || 1;
  return vector.map((value) => value / length);
}
