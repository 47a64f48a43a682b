import { priceUsage, zeroUsage, type RouteRequest } from '@sluice/contracts';
import type { CompiledSnapshot, SnapshotCandidate } from '@sluice/routing';
import { judgeCandidate } from '../config/judge-candidate.ts';
import { billedPrice, type RoutedKey, type RoutedWorkspace, type RouterConfig } from '../config/router-config.ts';
import { needsOf } from './needs-of.ts';

/** Characters of a token, about, and tokens that a message costs beside its text. */
const CHARS_PER_TOKEN = 4;
const TOKENS_PER_MESSAGE = 3;

export interface GatherInput {
  readonly request: RouteRequest;
  readonly workspace: RoutedWorkspace;
  readonly key: RoutedKey | undefined;
  readonly config: RouterConfig;
  readonly compiled: CompiledSnapshot;
  /** Characters of the messages. */
  readonly textLength: number;
  readonly nowMs: number;
}

/** The models that may be chosen with what each would be billed, and why each other may not; each model once. */
export function gatherCandidates({ request, workspace, key, config, compiled, textLength, nowMs }: GatherInput): {
  readonly candidates: SnapshotCandidate[];
  readonly providers: ReadonlyMap<string, string>;
} {
  const inputTokens =
    request.input_tokens ??
    Math.ceil(textLength / CHARS_PER_TOKEN) + TOKENS_PER_MESSAGE * (request.messages?.length ?? 0);
  const needs = needsOf(request);
  const providers = new Map<string, string>();
  const ids = request.candidates === undefined ? config.chatModels : [...new Set(request.candidates)];
  const candidates = ids.map((model): SnapshotCandidate => {
    const outputTokens =
      request.output_tokens ??
      Math.round(compiled.control.arms.get(model)?.meanOutputTokens ?? workspace.policy.defaultOutputTokens);
    const price = billedPrice(workspace, model);
    const costNanoUsd =
      price === undefined ? 0 : priceUsage({ ...zeroUsage(), input: inputTokens, output: outputTokens }, price);
    if (request.exclude?.includes(model) === true) return { model, costNanoUsd, excluded: 'the request excludes it' };
    const judged = judgeCandidate(
      config,
      workspace,
      key,
      model,
      { contextTokens: request.constraints?.context_tokens ?? inputTokens + outputTokens, needs },
      nowMs,
    );
    if ('excluded' in judged) return { model, costNanoUsd, excluded: judged.excluded };
    if (price === undefined)
      return { model, costNanoUsd, excluded: 'it has no price, and the workspace does not allow unpriced calls' };
    providers.set(model, judged.provider);
    return { model, costNanoUsd };
  });
  return { candidates, providers };
}
