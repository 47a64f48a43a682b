import { SluiceError, type Refusal } from '@sluice/contracts';
import type { Call } from './call.ts';
import type { Stage, StageName } from './stage.ts';

/** The stages by name; the order is decided here and nowhere else. */
export type Stages = { readonly [Name in StageName]: Stage };

/**
 * The request path. Stage 0, the envelope, has happened when a call exists. The order is the design: each line says why
 * it stands where it stands.
 */
export function pipelineOf(stages: Stages): readonly Stage[] {
  return [
    stages.authenticate, // headers only: an anonymous caller costs no body read and learns nothing else
    stages.place, // after the key, or it would tell strangers which workspaces exist
    // Bounded by the workspace's own cap, so the workspace must be known. Who is at a limit whatever the body says is
    // refused here, unread: it would be refused by admit, which has to stand after resolve.
    stages.read_body,
    stages.resolve, // before any reservation: price, cache key and what a provider can be told depend on the model
    stages.idempotency, // a replay costs nothing, so it comes before anything is taken
    stages.cache, // a hit takes one request from the rate bucket, no tokens, no quota
    stages.admit, // one atomic step: quota, then bulkhead, then rate; all of them or none
    stages.route, // after admission: the plan may depend on what the budget still allows
    stages.attempt, // the shared resource is the provider's capacity: fair queue on every attempt
    stages.relay, // bytes to the client as they come; the last one waits for settle
    stages.settle, // always, exactly once: record, last byte, release, true up, report
  ];
}

/**
 * Runs one call to its end. The last stage, settle, runs whatever happened before; its own failure is reported to
 * `onFault`.
 */
export async function runPipeline(
  pipeline: readonly Stage[],
  call: Call,
  onFault: (error: unknown, call: Call, stage: StageName) => void,
): Promise<void> {
  const last = pipeline.length - 1;
  for (let i = 0; i < last; i += 1) {
    const stage = pipeline[i] as Stage;
    try {
      const result = stage.run(call);
      const refusal = result instanceof Promise ? await result : result;
      if (refusal !== undefined) {
        call.refusal = refusal;
        break;
      }
    } catch (error) {
      call.refusal = faultRefusal(error);
      onFault(error, call, stage.name);
      break;
    }
    if (call.cancel.reason !== undefined && call.answer === undefined && i < last - 1) {
      call.refusal = cancelRefusal(call);
      break;
    }
  }
  const settle = pipeline[last] as Stage;
  try {
    await settle.run(call);
  } catch (error) {
    onFault(error, call, settle.name);
    call.response.destroy();
  }
}

/** What a thrown error says in public: nothing but the catalogue's text. */
export function faultRefusal(error: unknown): Refusal {
  return error instanceof SluiceError ? { code: error.code, message: error.publicText } : { code: 'internal' };
}

/** The refusal that belongs to the reason for which a call was given up. */
export function cancelRefusal(call: Call): Refusal {
  switch (call.cancel.reason) {
    case 'caller_deadline':
      return { code: 'caller_deadline' };
    case 'total_deadline':
      return { code: 'upstream_timeout' };
    case 'slow_reader':
      return { code: 'slow_reader' };
    case 'draining':
      return { code: 'draining' };
    default:
      return { code: 'client_closed' };
  }
}
