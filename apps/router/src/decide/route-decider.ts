import { createHash } from 'node:crypto';
import { RouteRequest, type Clock, type RouteAnswer } from '@sluice/contracts';
import { decideFromSnapshot, promptText, type CompiledSnapshot } from '@sluice/routing';
import { parseStorable, type Ids, type PartyRates } from '@sluice/service-kit';
import type { RoutedKey, RoutedWorkspace, RouterConfig } from '../config/router-config.ts';
import type { Caller } from '../http/caller.ts';
import { notReady, tooMuch, type ProblemReply, type Reply } from '../http/reply.ts';
import type { WaitingLog } from '../learn/waiting-log.ts';
import type { DecisionRow } from '../store/router-store.ts';
import { gatherCandidates } from './gather-candidates.ts';
import { readFeatures } from './read-features.ts';
import type { RecentRequests } from './recent-requests.ts';
import { routeAnswer, type AnswerFacts } from './route-answer.ts';

export interface RouteDeciderDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Uniform draws in [0, 1). */
  readonly random: () => number;
  readonly config: () => RouterConfig | undefined;
  readonly snapshot: () => CompiledSnapshot | undefined;
  readonly log: Pick<WaitingLog, 'accepts' | 'add'>;
  /** Of each tenant; one decision takes one. */
  readonly shares: Pick<PartyRates, 'take'>;
  readonly requests: RecentRequests;
  readonly rewardTimeoutMs: number;
  readonly onDecided?: (row: DecisionRow) => void;
  readonly onRefused?: () => void;
}

/** Answers one `POST /route`, from its parsed JSON. */
export type RouteDecider = (body: unknown, caller: Caller) => Reply<RouteAnswer>;

/** Judges a request, decides by the published snapshot, logs the decision, and explains it. */
export function createRouteDecider(deps: RouteDeciderDeps): RouteDecider {
  const { clock, ids, random, log, requests } = deps;

  function decide(
    request: RouteRequest,
    workspace: RoutedWorkspace,
    key: RoutedKey | undefined,
    config: RouterConfig,
    compiled: CompiledSnapshot,
  ): Reply<RouteAnswer> {
    const nowMs = clock.now();
    const digest = request.request_id === undefined || request.dry_run ? undefined : digestOf(request);
    if (digest !== undefined) {
      const before = requests.find(workspace.slug, request.request_id as string, nowMs);
      if (before !== undefined && before.digest !== digest)
        return {
          status: 409,
          title: 'This request_id was used for another request',
          detail: 'The same request_id gives the same decision again; use another one for another request.',
        };
      if (before !== undefined) return { status: 200, body: routeAnswer(before.facts, request.explain) };
    }
    if (!request.dry_run && !log.accepts(workspace.tenant)) {
      deps.onRefused?.();
      return notReady(
        'Too many decisions wait to be stored; one more would lose its probability. Ask again in a few seconds.',
      );
    }
    const text = request.messages === undefined ? '' : promptText({ messages: request.messages });
    const features =
      request.features === undefined
        ? { features: compiled.extractor.extract(text) }
        : readFeatures(request.features, compiled.extractor.names);
    if ('errors' in features) return { status: 422, title: 'The features cannot be used', errors: features.errors };
    const { candidates, providers } = gatherCandidates({
      request,
      workspace,
      key,
      config,
      compiled,
      textLength: request.messages === undefined ? 0 : lengthOf(request.messages),
      nowMs,
    });
    const decided = decideFromSnapshot(compiled, {
      decisionId: ids.ulid(),
      tenant: workspace.tenant,
      featureClass: request.feature,
      features: features.features,
      candidates,
      budgetUsed: request.budget_used,
      minQuality: request.constraints?.min_quality,
      maxCostNanoUsd: request.constraints?.max_cost_nanousd,
      maxLatencyMs: request.constraints?.max_latency_ms,
      costWeight: request.objective?.cost_weight,
      u: random(),
      variantDraw: random(),
    });
    if (decided.status === 'bad_features')
      return { status: 422, title: 'The features cannot be used', detail: decided.message };
    if (decided.status === 'none_eligible') {
      return {
        status: 422,
        title: 'No candidate is eligible',
        detail: 'Each candidate is listed with the reason why it must not be chosen.',
        errors: decided.excluded.map(({ model, reason }) => ({ path: model, message: reason })),
      };
    }
    const { decision } = decided;
    const signals = compiled.snapshot.tenants[workspace.tenant] ?? NO_SIGNALS;
    const facts: AnswerFacts = {
      decision,
      provider: providers.get(decision.chosen),
      expiresAtMs: Math.floor(nowMs) + deps.rewardTimeoutMs,
      dryRun: request.dry_run,
      names: compiled.extractor.names,
      signals: { difficulty: signals.difficulty, pressure: signals.pressure, budgetUsed: request.budget_used ?? 0 },
    };
    if (!request.dry_run) {
      const row: DecisionRow = {
        id: decision.decision_id,
        atMs: Math.floor(nowMs),
        tenant: workspace.tenant,
        workspace: workspace.slug,
        source: 'router',
        decision,
        expiresAtMs: facts.expiresAtMs,
        rewardState: decision.evaluated ? 'pending' : 'not_evaluated',
        ...(digest === undefined ? {} : { request: { id: request.request_id as string, digest } }),
      };
      log.add(row);
      deps.onDecided?.(row);
      if (digest !== undefined)
        requests.add(workspace.slug, request.request_id as string, { digest, facts, atMs: nowMs });
    }
    return { status: 200, body: routeAnswer(facts, request.explain) };
  }

  return (body, caller) => {
    const parsed = parseStorable(RouteRequest, body);
    if (!parsed.success) return { status: 400, title: 'The request body is not valid', errors: parsed.faults };
    const config = deps.config();
    if (config === undefined) return notReady('It has no configuration yet.');
    const compiled = deps.snapshot();
    if (compiled === undefined) return notReady('What it has learned is not loaded yet.');
    const found = workspaceOf(parsed.data, caller, config);
    if ('title' in found) return found;
    const waitMs = deps.shares.take(found.tenant);
    if (waitMs > 0) return tooMuch(waitMs);
    return decide(parsed.data, found, caller.kind === 'key' ? caller.key : undefined, config, compiled);
  };
}

const NO_SIGNALS = { difficulty: 0, pressure: 0 };

/** The workspace that is decided for: a key's own, or the one that a service names. */
function workspaceOf(
  { workspace: slug }: RouteRequest,
  caller: Caller,
  config: RouterConfig,
): RoutedWorkspace | ProblemReply {
  if (caller.kind === 'key') {
    const own = caller.key.workspace;
    if (slug !== undefined && slug !== own.slug)
      return {
        status: 404,
        title: 'The workspace does not exist',
        errors: [
          {
            path: 'workspace',
            message: "there is no such workspace, or it is not the key's own; leave it out with an API key",
          },
        ],
      };
    return own.suspended ? suspended : own;
  }
  if (slug === undefined)
    return {
      status: 400,
      title: 'The request body is not valid',
      errors: [{ path: 'workspace', message: 'a service must say for which workspace' }],
    };
  const found = config.workspaces.get(slug);
  if (found === undefined)
    return {
      status: 404,
      title: 'The workspace does not exist',
      errors: [{ path: 'workspace', message: `there is no workspace '${slug}'` }],
    };
  return found.suspended ? suspended : found;
}

const suspended: ProblemReply = { status: 403, title: 'This workspace is suspended' };

/** What was asked, without how it is to be explained. */
function digestOf({ explain: _explain, request_id: _id, ...asked }: RouteRequest): string {
  return createHash('sha256').update(JSON.stringify(asked)).digest('base64url');
}

/** Characters of all messages, for an estimate of their tokens. */
function lengthOf(messages: NonNullable<RouteRequest['messages']>): number {
  let length = 0;
  for (const { content } of messages) {
    if (typeof content === 'string') length += content.length;
    else if (content !== null)
      for (const part of content) if (typeof part['text'] === 'string') length += part['text'].length;
  }
  return length;
}
