import { HEADER } from '@sluice/contracts';
import type { Call } from '../call.ts';
import { setRateHeaders } from './rate-headers.ts';
import { isFallback, overheadUs } from '../metering/usage-events.ts';

/** The headers that tell who answered, how long we took and what is left. Before commit only. */
export function setAnswerHeaders(call: Call): void {
  const { response, answer, timing } = call;
  if (call.view !== undefined) setRateHeaders(response, call.view, call.dialect, call.startedAtMs);
  response.setHeader(HEADER.cache, 'off');
  response.setHeader(HEADER.attempts, String(call.attempts.length));
  response.setHeader(HEADER.queueMs, timing.queueMs.toFixed(1));
  if (call.plan?.decisionId !== undefined) response.setHeader(HEADER.decision, call.plan.decisionId);
  if (call.downgraded) response.setHeader(HEADER.downgrade, 'budget');
  if (call.dropped !== undefined) response.setHeader(HEADER.dropped, droppedNames(call.dropped));
  if (answer === undefined) return;
  response.setHeader(HEADER.provider, answer.attempt.provider.id);
  response.setHeader(HEADER.model, answer.attempt.model);
  response.setHeader(HEADER.overheadUs, String(overheadUs(call, timing.startedAt)));
  if (isFallback(call)) {
    response.setHeader(HEADER.fallback, 'true');
    if (call.fallbackReason !== undefined) response.setHeader(HEADER.fallbackReason, call.fallbackReason);
  }
}

/** The longest list of names, characters. */
const MAX_NAMES_CHARS = 1_000;

/** Paths in a header: what no header may hold is written as in a URL, and a list that is too long says how many follow. */
export function droppedNames(paths: readonly string[]): string {
  let list = '';
  for (const [i, path] of paths.entries()) {
    const name = encodeURI(path.slice(0, 200).toWellFormed())
      .replaceAll(',', '%2C')
      .replaceAll('%5B', '[')
      .replaceAll('%5D', ']');
    const next = list === '' ? name : `${list}, ${name}`;
    if (next.length > MAX_NAMES_CHARS) return `${list}, and ${paths.length - i} more`;
    list = next;
  }
  return list;
}
