import type { ServedUse } from '@sluice/contracts';
import { asObject, tokenCount } from '../token-count.ts';
import { addAll, servedOf, tierOf } from '../served.ts';

type Json = Readonly<Record<string, unknown>>;

/** xAI's counts of tools that ran there: `web_search_calls`. */
const CALLS = '_calls';
/** OpenRouter's, in Anthropic's words: `web_search_requests`. */
const REQUESTS = '_requests';

/** What an answer, or a chunk of one, says of use that has a price of its own; undefined when it says nothing. */
export function openaiServed(answer: Json): ServedUse | undefined {
  const usage = asObject(answer.usage);
  const tier = tierOf({ service: answer.service_tier ?? usage?.service_tier });
  if (usage === undefined) return tier === undefined ? undefined : { tier };
  const prompt = asObject(usage.prompt_tokens_details);
  const completion = asObject(usage.completion_tokens_details);
  return servedOf({
    tier,
    audio_input: tokenCount(prompt?.audio_tokens),
    image_input: tokenCount(prompt?.image_tokens),
    image_output: tokenCount(completion?.image_tokens),
    tools: toolUses(usage),
  });
}

function toolUses(usage: Json): Record<string, number> {
  const uses: Record<string, number> = {};
  const add = (name: string, value: unknown): void => {
    const count = tokenCount(value);
    if (count !== undefined && count > 0) uses[name] = Math.max(uses[name] ?? 0, count);
  };
  addAll(usage.server_tool_use, REQUESTS, add);
  addAll(usage.server_side_tool_usage_details, CALLS, add);
  add('live_search', usage.num_sources_used);
  add('web_search', usage.num_search_queries);
  return uses;
}
