import type { IncomingMessage } from 'node:http';
import type { Clock, MaybePromise, Refusal } from '@sluice/contracts';
import { LARGE_BYTES } from '../../bodies/body-job.ts';
import type { BodyPool } from '../../bodies/body-pool.ts';
import { failedJob } from '../../bodies/failed-job.ts';
import { ownerOf } from '../../bodies/job-owner.ts';
import { isBodyRefusal, parseBody } from '../../bodies/parse-body.ts';
import { translationsOf } from '../../bodies/translations-of.ts';
import type { Call } from '../../call.ts';
import type { CompiledKey } from '../../compiled-config.ts';
import { cancelRefusal } from '../../pipeline.ts';
import type { Stage } from '../../stage.ts';
import type { LookAhead } from '../../refusals/look-ahead.ts';
import { closedRefusal } from '../../planning/judge-model.ts';
import type { AdapterLookup } from '../../planning/static-plan.ts';
import { createBodyMemory, type BodyMemory } from './body-memory.ts';
import { collectBody, type CollectedBody } from './collect-body.ts';
import { createParseTurns, type ParseTurns } from './parse-turns.ts';
import { createStartTurns, type StartTurns } from './start-turns.ts';

const DEFAULT_SILENCE_MS = 30_000;
/**
 * Bodies up to this size are parsed in less time than the rest of a call takes: no limit is looked at before, and none
 * waits for its turn.
 */
const SMALL_BYTES = 8 * 1024;
/** `application/json`, `application/vnd.x+json`, with parameters or without. */
const JSON_TYPE = /^\s*(application|text)\/([\w.-]+\+)?json\s*(;|$)/i;

export interface ReadBodyDeps {
  readonly clock: Clock;
  readonly adapters: AdapterLookup;
  /** Reads the bodies that are too large for the event loop. */
  readonly bodies: BodyPool;
  /** Whether the call would be refused whatever its body says. Asked for bodies that cost something to read. */
  readonly lookAhead: LookAhead;
  /** How long a caller may stop in the middle of its body. */
  readonly silenceMs?: number;
  readonly memory?: BodyMemory;
  readonly turns?: ParseTurns;
  readonly starts?: StartTurns;
}

/**
 * Reads the body within the workspace's cap and parses it once: a small one here, a large one in a worker. Nothing has
 * been taken of any limit yet, so what one tenant's bodies take of the process's time is bounded here, and what they
 * take of its memory, until they are needed no longer.
 */
export function createReadBodyStage({
  clock,
  adapters,
  bodies,
  lookAhead,
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
      const declared = Number(call.request.headers['content-length'] ?? 0);
      const early = refuseByHeaders(call.request, declared, maxBodyBytes);
      if (early !== undefined) return early;
      if (declared > SMALL_BYTES) {
        const refusal = await refuseUnread(call, declared);
        if (refusal !== undefined) return refusal;
      }
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
      const { body } = collected;
      const inWorker = body.length > LARGE_BYTES;

      const start = starts.turn(tenant.id, inWorker ? 0 : body.length, readAt, call.cancel);
      if (start !== undefined) await start;
      if (call.cancel.reason !== undefined) return cancelRefusal(call);
      const turn = body.length > SMALL_BYTES && !inWorker ? turns.turn(tenant.id, call.cancel) : undefined;
      if (turn !== undefined) await turn;
      if (start !== undefined || turn !== undefined) call.timing.bodyReadMs = clock.monotonic() - startedAt;
      if (body.length <= SMALL_BYTES) return parse(call, body);
      // Once more: others of its tenant may have been admitted while it came, and its length may not have been told.
      const refusal = await refuseUnread(call, body.length);
      if (inWorker) return refusal ?? readInWorker(call, body);
      return parseInTurn(call, body, tenant.id, refusal);
    },
  };

  /** Who is refused whatever the body says is refused before it costs anything. */
  function refuseUnread(call: Call, bytes: number): MaybePromise<Refusal | undefined> {
    return closedRefusal((call.key as CompiledKey).workspace) ?? lookAhead(call, bytes);
  }

  function parseInTurn(call: Call, body: Buffer, tenantId: string, refusal: Refusal | undefined): Refusal | undefined {
    const startedAt = clock.monotonic();
    try {
      if (refusal !== undefined) return refusal;
      return call.cancel.reason === undefined ? parse(call, body) : cancelRefusal(call);
    } finally {
      turns.spent(tenantId, clock.monotonic() - startedAt);
    }
  }

  async function readInWorker(call: Call, body: Buffer): Promise<Refusal | undefined> {
    const { workspace } = call.key as CompiledKey;
    const dialects = translationsOf(call.config, workspace, call.operation, adapters);
    const end = await bodies.run(
      { kind: 'read', operation: call.operation, dialects, acrossDialects: workspace.policy.acrossDialects },
      body,
      ownerOf(call),
      call.cancel,
    );
    call.timing.bodyReadMs += end.waitMs;
    if (end.kind !== 'done') return failedJob(call, end.kind);
    if ('code' in end.result) return end.result;
    const { body: json, index, weighedBytes, large } = end.result;
    call.body = end.bytes;
    call.json = json;
    call.bodyIndex = index;
    call.weighedBytes = weighedBytes;
    call.largeBody = large;
    return undefined;
  }
}

function refuseByHeaders(request: IncomingMessage, declared: number, maxBodyBytes: number): Refusal | undefined {
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
  return declared > maxBodyBytes ? tooLarge(maxBodyBytes) : undefined;
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
  const parsed = parseBody(body);
  if (isBodyRefusal(parsed)) return parsed;
  call.body = body;
  call.json = parsed.json;
  call.bodyIndex = parsed.index;
  call.weighedBytes = parsed.weighedBytes;
  return undefined;
}
