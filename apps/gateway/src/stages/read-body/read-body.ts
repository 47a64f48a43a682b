import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Clock, Refusal } from '@sluice/contracts';
import type { Call } from '../../call.ts';
import type { CompiledKey } from '../../compiled-config.ts';
import { jsonFault, MAX_JSON_DEPTH, MAX_JSON_PARTS } from '@sluice/providers';
import { cancelRefusal } from '../../pipeline.ts';
import type { Stage } from '../../stage.ts';
import { createBodyMemory, type BodyMemory } from './body-memory.ts';
import { collectBody, type CollectedBody } from './collect-body.ts';
import { createParseTurns, type ParseTurns } from './parse-turns.ts';
import { createStartTurns, type StartTurns } from './start-turns.ts';
import { duplicateTopLevelKey } from './top-level-keys.ts';

/** Fields that decide about model, price, limits or output; two parsers must not disagree about them. */
const WATCHED_KEYS: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'max_tokens',
  'max_completion_tokens',
  'n',
  'user',
  'messages',
  'tools',
  'metadata',
  'stream_options',
  'input',
  'sim',
]);
const DEFAULT_SILENCE_MS = 30_000;
/** Bodies up to this size are parsed in less time than the rest of a call takes. */
const SMALL_BYTES = 8 * 1024;
/** `application/json`, `application/vnd.x+json`, with parameters or without. */
const JSON_TYPE = /^\s*(application|text)\/([\w.-]+\+)?json\s*(;|$)/i;

export interface ReadBodyDeps {
  readonly clock: Clock;
  /** How long a caller may stop in the middle of its body. */
  readonly silenceMs?: number;
  readonly memory?: BodyMemory;
  readonly turns?: ParseTurns;
  readonly starts?: StartTurns;
}

/**
 * Reads the body within the workspace's cap and parses it once. No limit has been looked at yet, so what one
 * tenant's bodies take of the process's time is bounded here, and what they take of its memory, until they are
 * needed no longer.
 */
export function createReadBodyStage({
  clock,
  silenceMs = DEFAULT_SILENCE_MS,
  memory = createBodyMemory(),
  turns = createParseTurns({ clock }),
  starts = createStartTurns(),
}: ReadBodyDeps): Stage {
  return {
    name: 'read_body',
    async run(call) {
      const { policy, tenant } = (call.key as CompiledKey).workspace;
      const { maxBodyBytes } = policy;
      const early = refuseByHeaders(call.request, maxBodyBytes);
      if (early !== undefined) return early;
      const startedAt = clock.monotonic();
      let held = 0;
      const collected = await collectBody(call.request, maxBodyBytes, silenceMs, call.cancel, (size) => {
        if (!memory.take(tenant.id, held, size - held)) return false;
        held = size;
        return true;
      });
      if (held > 0)
        call.freeBody = () => {
          memory.give(tenant.id, held);
          held = 0;
        };
      const readAt = clock.monotonic();
      call.timing.bodyReadMs = readAt - startedAt;
      if (collected.kind !== 'whole') return incomplete(call, collected, maxBodyBytes, silenceMs);

      const start = starts.turn(tenant.id, collected.body.length, readAt, call.cancel);
      if (start !== undefined) await start;
      if (call.cancel.reason !== undefined) return cancelRefusal(call);
      const large = collected.body.length > SMALL_BYTES;
      const turn = large ? turns.turn(tenant.id, call.cancel) : undefined;
      if (turn !== undefined) await turn;
      if (start !== undefined || turn !== undefined) call.timing.bodyReadMs = clock.monotonic() - startedAt;
      return large ? parseInTurn(call, collected.body, tenant.id) : parse(call, collected.body);
    },
  };

  function parseInTurn(call: Call, body: Buffer, tenantId: string): Refusal | undefined {
    const startedAt = clock.monotonic();
    try {
      return call.cancel.reason === undefined ? parse(call, body) : cancelRefusal(call);
    } finally {
      turns.spent(tenantId, clock.monotonic() - startedAt);
    }
  }
}

function refuseByHeaders(request: IncomingMessage, maxBodyBytes: number): Refusal | undefined {
  const { headers } = request;
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    return {
      code: 'unsupported_encoding',
      message: 'The request body must not be compressed; send it without content-encoding.',
    };
  }
  const type = headers['content-type'];
  if (type !== undefined && !JSON_TYPE.test(type)) {
    return {
      code: 'unsupported_encoding',
      message: 'The request body must be JSON; send it with content-type: application/json.',
    };
  }
  return Number(headers['content-length'] ?? 0) > maxBodyBytes ? tooLarge(maxBodyBytes) : undefined;
}

function incomplete(
  call: Call,
  collected: Exclude<CollectedBody, { kind: 'whole' }>,
  maxBodyBytes: number,
  silenceMs: number,
): Refusal {
  switch (collected.kind) {
    case 'too_large':
      return tooLarge(maxBodyBytes);
    case 'no_room':
      return {
        code: 'shed',
        message: 'Too many large request bodies of this customer are on their way; send this one again.',
        retryAfterMs: 1_000,
      };
    case 'silence':
      return {
        code: 'request_timeout',
        message: `The request body stopped coming for ${silenceMs / 1000} s before its end.`,
      };
    case 'gone':
      return cancelRefusal(call);
  }
}

function tooLarge(maxBodyBytes: number): Refusal {
  return {
    code: 'body_too_large',
    message: `The request body is larger than the ${maxBodyBytes.toLocaleString('en-US')} bytes that this workspace allows.`,
  };
}

function parse(call: Call, body: Buffer): Refusal | undefined {
  if (body.length === 0) return { code: 'invalid_json', message: 'The request body is empty; send a JSON object.' };
  if (!isUtf8(body)) return { code: 'invalid_json', message: 'The request body is not valid UTF-8.' };
  const text = body.toString('utf8');
  const fault = jsonFault(text);
  if (fault === 'too_deep')
    return {
      code: 'invalid_json',
      message: `The request body nests objects and arrays more than ${MAX_JSON_DEPTH} deep.`,
    };
  if (fault === 'too_many_parts')
    return {
      code: 'body_too_large',
      message: `The request body holds more than ${MAX_JSON_PARTS.toLocaleString('en-US')} values, of which one with a name counts as five; send text instead of lists, or less of them.`,
    };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return { code: 'invalid_json', message: `The request body is not valid JSON${position(error)}.` };
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    return { code: 'invalid_json', message: 'The request body must be a JSON object.' };
  }
  const twice = duplicateTopLevelKey(text, WATCHED_KEYS);
  if (twice !== undefined)
    return { code: 'duplicate_key', param: twice, message: `The request body names '${twice}' twice; name it once.` };
  call.body = body;
  call.json = json as Record<string, unknown>;
  return undefined;
}

/** Where the parser stopped. Its text is not passed on: it quotes the body. */
function position(error: unknown): string {
  const match = error instanceof Error ? /position (\d+)/.exec(error.message) : null;
  return match === null ? ' (it ends too early, perhaps)' : ` (at byte ${match[1]}, about)`;
}
