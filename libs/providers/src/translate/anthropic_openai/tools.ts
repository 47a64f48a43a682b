import { asObject } from '../../token-count.ts';
import { schemaOf } from '../schema.ts';
import { asArray, asText, type Carrier, isUnset, type Json } from '../carrier.ts';

/** `cache_control` and `eager_input_streaming` change no answer. */
const TOOL = new Set([
  'type',
  'name',
  'description',
  'input_schema',
  'strict',
  'cache_control',
  'eager_input_streaming',
]);
/** Characters of a function's name at OpenAI; a tool's at Anthropic may have twice as many. */
const MAX_NAME = 64;
const CHOICE = new Set(['type', 'name', 'disable_parallel_tool_use']);

/** Custom tools as functions; undefined when there are none. */
export function translateTools(tools: unknown, carrier: Carrier): readonly Json[] | undefined {
  const list = asArray(tools);
  if (list === undefined || list.length === 0) return undefined;
  const translated = list.flatMap((item, i) => {
    const path = `tools[${i}]`;
    const tool = asObject(item) ?? {};
    if (!isUnset(tool.type) && tool.type !== 'custom') {
      carrier.refuse(`${path}.type`, "a provider's own tools are not known there");
      return [];
    }
    carrier.onlyKnown(tool, TOOL, path);
    const name = asText(tool.name);
    if (name === undefined) carrier.invalid(`${path}.name`, 'must be a string');
    else if (name.length > MAX_NAME) {
      carrier.refuse(`${path}.name`, `may have ${MAX_NAME} characters there, and has ${name.length}`);
      return [];
    }
    return [
      {
        type: 'function',
        function: {
          name: tool.name,
          ...(isUnset(tool.description) ? {} : { description: tool.description }),
          ...(isUnset(tool.input_schema) ? {} : { parameters: schemaOf(tool.input_schema) }),
          ...(tool.strict === true ? { strict: true } : {}),
        },
      },
    ];
  });
  return translated.length === 0 ? undefined : translated;
}

/**
 * `tool_choice` and `parallel_tool_calls`, as far as they are said.
 *
 * @param asked the caller's tools.
 * @param hasTools any of them was carried.
 */
export function translateToolChoice(choice: unknown, asked: unknown, hasTools: boolean, carrier: Carrier): Json {
  const wish = asObject(choice);
  if (wish === undefined) return {};
  carrier.onlyKnown(wish, CHOICE, 'tool_choice');
  if (!hasTools) {
    if ((asArray(asked) ?? []).length > 0) carrier.refuse('tool_choice', 'none of the tools can be carried');
    else if (wish.type === 'any' || wish.type === 'tool') carrier.invalid('tool_choice', 'needs tools to choose from');
    return {};
  }
  const single = wish.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {};
  switch (wish.type) {
    case 'auto':
      return { tool_choice: 'auto', ...single };
    case 'any':
      return { tool_choice: 'required', ...single };
    case 'none':
      return { tool_choice: 'none' };
    case 'tool':
      return { tool_choice: { type: 'function', function: { name: wish.name } }, ...single };
    default:
      carrier.refuse('tool_choice.type');
      return {};
  }
}
