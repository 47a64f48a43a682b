import { isRefusal, type InboundCall, type Refusal, type WrittenBody } from '@sluice/contracts';
import { createAdapterRegistry } from '@sluice/providers/bodies';
import { validateBody } from './validate-body.ts';
import type { BodyJob, BodyResults, JobCall, ReadBody } from './body-job.ts';
import { factsIn } from './facts-of.ts';
import { isBodyRefusal, parseBody } from './parse-body.ts';

/** Members that the path reads and a worker gives back as they are. */
const READ_KEYS = [
  'model',
  'stream',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'n',
  'user',
  'metadata',
  'stream_options',
];
/** What comes back is copied on the event loop. No field that is read there is honestly as long. */
const MAX_READ_BYTES = 64 * 1024;

const adapters = createAdapterRegistry().get;

/** Does one job, to its end. It takes as long as the bytes are many: for workers. */
export function runBodyJob<Kind extends BodyJob['kind']>(
  job: Extract<BodyJob, { kind: Kind }>,
  bytes: Buffer,
): BodyResults[Kind];
export function runBodyJob(job: BodyJob, bytes: Buffer): BodyResults[BodyJob['kind']] {
  switch (job.kind) {
    case 'read':
      return read(job, bytes);
    case 'translate':
      return translate(job, bytes);
    case 'answer': {
      const adapter = adapterOf(job.dialect);
      return adapter.readWhole(inboundOf(job.call, bytes, {}), bytes, () => job.expectedInput ?? 0);
    }
  }
}

function read(job: Extract<BodyJob, { kind: 'read' }>, bytes: Buffer): Refusal | ReadBody {
  const parsed = parseBody(bytes);
  if (isBodyRefusal(parsed)) return parsed;
  const { json, index, weighedBytes } = parsed;
  const tooLong = index.members.find(
    ({ key, valueStart, valueEnd }) => READ_KEYS.includes(key) && valueEnd - valueStart > MAX_READ_BYTES,
  );
  if (tooLong !== undefined)
    return {
      code: 'invalid_value',
      param: tooLong.key,
      message: `'${tooLong.key}' must be at most ${MAX_READ_BYTES.toLocaleString('en-US')} bytes long.`,
    };
  const invalid = validateBody(job.operation, json);
  if (invalid !== undefined) return invalid;
  const { operation, acrossDialects } = job;
  const inbound = inboundOf({ operation, stream: false, wantsUsage: false, acrossDialects }, bytes, json);
  return {
    body: Object.fromEntries(READ_KEYS.filter((key) => Object.hasOwn(json, key)).map((key) => [key, json[key]])),
    index,
    weighedBytes,
    large: {
      facts: factsIn(json),
      judged: job.dialects.map(({ dialect, carryFields }) => ({
        dialect,
        carryFields,
        refusal: adapterOf(dialect).judge(inbound, carryFields),
      })),
    },
  };
}

function translate(job: Extract<BodyJob, { kind: 'translate' }>, bytes: Buffer): Refusal | WrittenBody {
  const parsed = parseBody(bytes);
  if (isBodyRefusal(parsed)) return parsed;
  const request = adapterOf(job.target.dialect).buildRequest(inboundOf(job.call, bytes, parsed.json), {
    ...job.target,
    secret: undefined,
  });
  if (isRefusal(request)) return request;
  return request.dropped === undefined ? { body: request.body } : { body: request.body, dropped: request.dropped };
}

function adapterOf(dialect: Parameters<typeof adapters>[0]) {
  const adapter = adapters(dialect);
  if (adapter === undefined) throw new TypeError(`no adapter speaks '${dialect}'`);
  return adapter;
}

function inboundOf(call: JobCall, bytes: Buffer, body: InboundCall['body']): InboundCall {
  return { ...call, bytes, body, forwardHeaders: {} };
}

/** The bytes that a result holds beside the job's own, which a worker hands over rather than copies. */
export function bytesOf(result: BodyResults[BodyJob['kind']]): Buffer | undefined {
  return 'body' in result && Buffer.isBuffer(result.body) ? result.body : undefined;
}
