import { asObject } from '../../token-count.ts';
import { asText } from '../carrier.ts';

/** Parts of an answer that are no words of it: thoughts are not shown, and references belong to what was left out. */
const NOT_SHOWN = new Set(['thinking', 'reasoning', 'redacted_thinking', 'reference']);

/** The text of an answer's content, which may come in parts; undefined where it is something else. */
export function answerText(content: unknown): string | undefined {
  if (content === undefined || content === null) return '';
  if (!Array.isArray(content)) return asText(content);
  let text = '';
  for (const item of content) {
    const part = asObject(item);
    const said = asText(part?.text) ?? asText(part?.refusal);
    if (said === undefined && !NOT_SHOWN.has(asText(part?.type) ?? '')) return undefined;
    if (said !== undefined && !NOT_SHOWN.has(asText(part?.type) ?? '')) text += said;
  }
  return text;
}
