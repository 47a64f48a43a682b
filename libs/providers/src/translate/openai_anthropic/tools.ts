import { asObject } from '../../token-count.ts';
import { schemaOf } from '../schema.ts';
import { asArray, asText, type Carrier, isUnset, type Json } from '../carrier.ts';

/** The tool whose input is the answer where a caller asks for JSON of any shape. */
export const JSON_TOOL = 'sluice_json_answer';

const TOOL = new Set(['type', 'function', 'cache_control']);
const FUNCTION = new Set(['name', 'description', 'parameters', 'strict', 'cache_control']);

/** That tool as Anthropic is told of it. */
export function jsonTool(): Json {
  return {
    name: JSON_TOOL,
    description: 'Give the whole answer as the input of this tool: one JSON object.',
    input_schema: { type: 'object', additionalProperties: true },
  };
}

/** Function tools as Anthropic's; undefined when there are none. */
export function translateTools(tools: unknown, carrier: Carrier): readonly Json[] | undefined {
  const list = asArray(tools);
  if (list === undefined || list.length === 0) return undefined;
  const translated = list.flatMap((item, i) => {
    const path = `tools[${i}]`;
    const tool = asObject(item);
    const made = asObject(tool?.function);
    if (tool === undefined || made === undefined || (tool.type !== 'function' && tool.type !== undefined)) {
      carrier.refuse(`${path}.type`, 'only tools of type function can');
      return [];
    }
    carrier.onlyKnown(tool, TOOL, path);
    carrier.onlyKnown(made, FUNCTION, `${path}.function`);
    const name = asText(made.name);
    if (name === undefined) carrier.invalid(`${path}.function.name`, 'must be a string');
    const cache = tool.cache_control ?? made.cache_control;
    return [
      {
        name,
        ...(isUnset(made.description) ? {} : { description: made.description }),
        input_schema: schemaOf(made.parameters),
        ...(made.strict === true ? { strict: true } : {}),
        ...(isUnset(cache) ? {} : { cache_control: cache }),
      },
    ];
  });
  return translated.length === 0 ? undefined : translated;
}

/**
 * The choice with the wish for one tool at a time, which Anthropic has in the same place.
 *
 * @param asked the caller's tools.
 * @param hasTools any of them was carried.
 */
export function translateToolChoice(
  choice: unknown,
  parallel: unknown,
  asked: unknown,
  hasTools: boolean,
  carrier: Carrier,
): Json | undefined {
  if (!hasTools) {
    if ((asArray(asked) ?? []).length > 0) {
      if (!isUnset(choice)) carrier.refuse('tool_choice', 'none of the tools can be carried');
    } else if (!isUnset(choice) && choice !== 'none' && choice !== 'auto')
      carrier.invalid('tool_choice', 'needs tools to choose from');
    return undefined;
  }
  const single = parallel === false ? { disable_parallel_tool_use: true } : {};
  if (isUnset(choice)) return parallel === false ? { type: 'auto', ...single } : undefined;
  if (choice === 'auto') return { type: 'auto', ...single };
  if (choice === 'required') return { type: 'any', ...single };
  if (choice === 'none') return { type: 'none' };
  const named = asObject(choice);
  const name = asText(asObject(named?.function)?.name);
  if (named?.type !== 'function' || name === undefined) {
    carrier.refuse('tool_choice');
    return undefined;
  }
  return { type: 'tool', name, ...single };
}
