import { isStorableText, storableFault, type Operation, type Refusal } from '@sluice/contracts';

type Body = Readonly<Record<string, unknown>>;

const MAX_MODEL_LENGTH = 256;
/** OpenAI's own bound of `n`. */
const MAX_CHOICES = 128;
const UNSTORABLE = 'must hold neither NUL nor half of a surrogate pair';
const MAX_OUTPUT_TOKENS = 10_000_000;

/**
 * Checks the fields that the gateway itself relies on. Everything else is the provider's to judge and travels on.
 * `null` counts as absent where a field may be left out, because SDKs send it so.
 */
export function validateBody(operation: Operation, body: Body): Refusal | undefined {
  return checkModel(body) ?? BY_OPERATION[operation](body) ?? checkCommon(body) ?? checkRecorded(body);
}

const BY_OPERATION: Record<Operation, (body: Body) => Refusal | undefined> = {
  chat: (body) =>
    checkMessages(body) ??
    checkInteger(body, 'n', 1, MAX_CHOICES) ??
    checkInteger(body, 'max_completion_tokens', 1, MAX_OUTPUT_TOKENS),
  messages: (body) =>
    checkMessages(body) ??
    (isAbsent(body.max_tokens) ? wrong('max_tokens', 'is required: a whole number of at least 1') : undefined),
  count_tokens: checkMessages,
  responses: checkInput,
  embeddings: checkInput,
};

function checkCommon(body: Body): Refusal | undefined {
  return (
    checkInteger(body, 'max_tokens', 1, MAX_OUTPUT_TOKENS) ??
    checkType(body, 'stream', 'boolean', 'must be true or false') ??
    checkObject(body, 'stream_options') ??
    checkObject(body, 'metadata') ??
    checkArray(body, 'tools') ??
    checkType(body, 'user', 'string', 'must be a string') ??
    checkType(body, 'temperature', 'number', 'must be a number') ??
    checkType(body, 'top_p', 'number', 'must be a number')
  );
}

/** What the ledger records of a body must be what a store can keep; prompts are not stored, and are the provider's. */
function checkRecorded({ model, user, metadata }: Body): Refusal | undefined {
  for (const [field, text] of [
    ['model', model],
    ['user', user],
  ] as const)
    if (typeof text === 'string' && !isStorableText(text)) return wrong(field, UNSTORABLE);
  if (isAbsent(metadata)) return undefined;
  const fault = storableFault(metadata);
  return fault === undefined ? undefined : wrong(['metadata', ...fault.path].join('.'), fault.message);
}

function checkModel({ model }: Body): Refusal | undefined {
  if (model === undefined) return wrong('model', "is required: the name of a model, such as 'sim-small'");
  if (typeof model !== 'string' || model === '' || model.length > MAX_MODEL_LENGTH)
    return wrong('model', `must be a string of 1 to ${MAX_MODEL_LENGTH} characters`);
  return undefined;
}

function checkMessages({ messages }: Body): Refusal | undefined {
  if (messages === undefined) return wrong('messages', 'is required: an array with at least one message');
  if (!Array.isArray(messages)) return wrong('messages', 'must be an array of messages');
  if (messages.length === 0) return wrong('messages', 'must have at least one message');
  for (let i = 0; i < messages.length; i += 1) {
    const message: unknown = messages[i];
    if (!isObject(message)) return wrong(`messages[${i}]`, 'must be an object with role and content');
    if (typeof message.role !== 'string' || message.role === '')
      return wrong(`messages[${i}].role`, "must be a string such as 'user'");
  }
  return undefined;
}

function checkInput({ input }: Body): Refusal | undefined {
  if (input === undefined) return wrong('input', 'is required: a string or an array');
  if (typeof input === 'string' ? input !== '' : Array.isArray(input) && input.length > 0) return undefined;
  return wrong('input', 'must be a string or an array, and not empty');
}

function checkInteger(body: Body, field: string, min: number, max: number): Refusal | undefined {
  const value = body[field];
  if (isAbsent(value) || (Number.isInteger(value) && (value as number) >= min && (value as number) <= max))
    return undefined;
  return wrong(field, `must be a whole number from ${min} to ${max}`);
}

function checkType(
  body: Body,
  field: string,
  type: 'boolean' | 'string' | 'number',
  rule: string,
): Refusal | undefined {
  const value = body[field];
  return isAbsent(value) || typeof value === type ? undefined : wrong(field, rule);
}

function checkObject(body: Body, field: string): Refusal | undefined {
  const value = body[field];
  return isAbsent(value) || isObject(value) ? undefined : wrong(field, 'must be an object');
}

function checkArray(body: Body, field: string): Refusal | undefined {
  const value = body[field];
  return isAbsent(value) || Array.isArray(value) ? undefined : wrong(field, 'must be an array');
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrong(param: string, rule: string): Refusal {
  return { code: 'invalid_value', param, message: `'${param}' ${rule}.` };
}
