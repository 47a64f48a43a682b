import type { IncomingHttpHeaders } from 'node:http';
import type { Clock, InboundCall, Model, Operation, Refusal } from '@sluice/contracts';
import { askedUseOf, payloadsOf } from '../../bodies/facts-of.ts';
import { NO_PAYLOADS } from '../../bodies/payloads.ts';
import type { Call } from '../../call.ts';
import type { CompiledConfig, CompiledKey } from '../../compiled-config.ts';
import { billedPriceOf, unpricedRefusal, withStatedPrice } from '../../metering/pricing.ts';
import { recordedText } from '../../metering/recorded-text.ts';
import type { Stage } from '../../stage.ts';
import type { Planner } from '../../planning/planner.ts';
import { isPlanRefusal } from '../../planning/static-plan.ts';
import { closedRefusal, killRefusal } from '../../planning/judge-model.ts';
import { readLabels } from './labels.ts';
import { namedModels } from './named-models.ts';
import { openChoice } from '../../planning/open-choice.ts';
import { validateBody } from '../../bodies/validate-body.ts';

type Body = Readonly<Record<string, unknown>>;

const MAX_END_USER = 256;
const FORWARD_HEADERS = ['anthropic-beta', 'anthropic-version', 'openai-beta'] as const;
/** A body up to this size is not searched for images: whatever it holds weighs little. */
const NO_PAYLOAD_BYTES = 8 * 1024;
const NO_QUERY = {};
const NO_HEADERS: Readonly<Record<string, string>> = {};

/**
 * Turns the body into what is wanted of which model, and refuses what may not be had, or what no provider of the chain
 * can be told. It comes before anything is reserved, because the price depends on the model.
 */
export function createResolveStage({ clock, planner }: { clock: Clock; planner: Planner }): Stage {
  return {
    name: 'resolve',
    run(call) {
      const key = call.key as CompiledKey;
      const { policy, priceBook } = key.workspace;
      const closed = closedRefusal(key.workspace);
      if (closed !== undefined) return closed;

      const body = call.json as Body;
      // Of a large body a worker has looked at it.
      const invalid = call.largeBody === undefined ? validateBody(call.operation, body) : undefined;
      if (invalid !== undefined) return invalid;
      const labels = readLabels(call.request.headers, key.record.tags);
      if ('code' in labels) return labels;
      const { feature, tags } = labels;
      const stopped = feature === undefined ? undefined : featureKill(call.config, feature);
      if (stopped !== undefined) return stopped;

      const named = namedModels(call, key, body.model as string, feature, clock.now());
      if ('code' in named) return named;
      const inbound = inboundCall(call, body);
      const bodyBytes = inbound.bytes.length;
      const asked = {
        inbound,
        bodyBytes,
        weighedBytes: call.weighedBytes,
        payloads: bodyBytes > NO_PAYLOAD_BYTES ? payloadsOf(inbound) : NO_PAYLOADS,
        modelRequested: body.model as string,
        pinned: named.kind === 'given' && named.pinned,
        feature,
        tags,
        endUser: endUserOf(call.operation, body),
        maxOutputTokens: maxOutputOf(call.operation, body),
        choices: call.operation === 'chat' && typeof body.n === 'number' ? body.n : 1,
        priceVersion: priceBook.version,
        askedUse: askedUseOf(inbound),
      };
      if (named.kind === 'open') {
        const choice = openChoice({
          config: call.config,
          key,
          asked,
          planner,
          nowMs: clock.now(),
          defaultModel: named.defaultModel,
        });
        if ('code' in choice) return choice;
        const [first] = choice.candidates;
        const counts = call.operation === 'count_tokens';
        call.resolved = {
          ...asked,
          candidates: counts ? [first.model] : (choice.candidates.map(({ model }) => model) as [Model, ...Model[]]),
          billedPrice: first.billedPrice,
          plan: first.plan,
          choice: counts ? undefined : choice,
        };
        return undefined;
      }
      const billedPrice = billedPriceOf(priceBook, named.models[0], policy);
      if (billedPrice === undefined) {
        return {
          code: 'price_unknown',
          param: 'model',
          message: `The model '${named.models[0].id}' has no price and this workspace does not allow unpriced calls.`,
        };
      }
      const unpriced = unpricedRefusal(billedPrice, asked.askedUse, policy, named.models[0].id);
      if (unpriced !== undefined) return unpriced;
      const plan = planner.planFor(call.config, key, {
        inbound: asked.inbound,
        candidates: named.models,
        pinned: named.pinned,
        feature,
      });
      if (isPlanRefusal(plan)) return plan;
      call.resolved = {
        ...asked,
        candidates: named.models,
        billedPrice: withStatedPrice(billedPrice, asked.askedUse, policy),
        plan,
        choice: named.choice,
      };
      return undefined;
    },
  };
}

function featureKill(config: CompiledConfig, feature: string): Refusal | undefined {
  for (const kill of config.killSwitches)
    if (kill.scope === 'feature' && kill.target === feature) return killRefusal(kill);
  return undefined;
}

function inboundCall(call: Call, body: Body): InboundCall {
  const options = body.stream_options as { include_usage?: unknown } | null | undefined;
  return {
    operation: call.operation,
    bytes: call.body as Buffer,
    body,
    stream: body.stream === true && call.operation !== 'embeddings' && call.operation !== 'count_tokens',
    wantsUsage: options?.include_usage === true,
    forwardHeaders: forwardHeaders(call.request.headers),
    acrossDialects: (call.key as CompiledKey).workspace.policy.acrossDialects,
    ...queryOf(call.request.url),
    ...(call.bodyIndex === undefined ? {} : { index: call.bodyIndex }),
    ...(call.largeBody === undefined ? {} : { large: call.largeBody }),
  };
}

function queryOf(url: string | undefined): { readonly query?: string } {
  const at = url?.indexOf('?') ?? -1;
  return at < 0 ? NO_QUERY : { query: (url as string).slice(at + 1) };
}

function forwardHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  let forwarded: Record<string, string> | undefined;
  for (const name of FORWARD_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string') (forwarded ??= {})[name] = value;
  }
  return forwarded ?? NO_HEADERS;
}

function endUserOf(operation: Operation, body: Body): string | undefined {
  const metadata = body.metadata as { user_id?: unknown } | null | undefined;
  const user = operation === 'messages' ? metadata?.user_id : body.user;
  return typeof user === 'string' && user !== '' ? recordedText(user, MAX_END_USER) : undefined;
}

/**
 * The bound that the call's own dialect knows. Of OpenAI's two names a provider may know one only, so the larger
 * counts.
 */
function maxOutputOf(operation: Operation, body: Body): number | undefined {
  const bound =
    operation === 'messages'
      ? boundOf(body.max_tokens)
      : operation === 'responses'
        ? boundOf(body.max_output_tokens)
        : Math.max(boundOf(body.max_completion_tokens), boundOf(body.max_tokens));
  return bound === 0 ? undefined : bound;
}

function boundOf(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : 0;
}
