import type { ModelAbility, RouteRequest } from '@sluice/contracts';
import { promptParts } from '@sluice/routing';

/** What a model must be able to do for a request, beside to chat: what it says, and what its messages hold. */
export function needsOf({ needs = [], messages }: Pick<RouteRequest, 'needs' | 'messages'>): readonly ModelAbility[] {
  if (messages === undefined) return needs;
  const all = new Set<ModelAbility>(needs);
  const { images, audio } = promptParts(messages);
  if (images) all.add('images');
  if (audio) all.add('audio');
  if (messages.some(isTurnOfTools)) all.add('tools');
  return [...all];
}

/** A call of a tool or its result, in either dialect. */
function isTurnOfTools({ role, content, tool_calls: calls }: NonNullable<RouteRequest['messages']>[number]): boolean {
  if (role === 'tool' || (Array.isArray(calls) && calls.length > 0)) return true;
  return Array.isArray(content) && content.some(({ type }) => type === 'tool_use' || type === 'tool_result');
}
