/** Turns of the person that are looked at, the newest first. */
const MAX_TURNS = 3;
/** As many characters as features look at; a body may be a thousand times as long. */
const MAX_CHARS = 16_384;
/** Instructions are the same in call after call; their beginning says what kind of call it is. Characters. */
const INSTRUCTION_CHARS = 1_024;

/**
 * The text of a request that features are computed from: the newest turns of the person, then the beginning of the
 * instructions. Reads a parsed body of either dialect (`messages` and `system`; `input` and `instructions`),
 * whatever is in it; what is not text (images, results of tools) is left out. To be looked at and never to be kept
 * or logged.
 */
export function promptText(body: Readonly<Record<string, unknown>>): string {
  const turns = body['messages'] ?? body['input'];
  let text = '';
  let instructions = join(textOf(body['system']), textOf(body['instructions']));
  if (typeof turns === 'string') text = turns.slice(0, MAX_CHARS);
  else if (Array.isArray(turns)) {
    let taken = 0;
    for (let i = turns.length - 1; i >= 0 && taken < MAX_TURNS && text.length < MAX_CHARS; i -= 1) {
      const turn: unknown = turns[i];
      if (typeof turn !== 'object' || turn === null || (turn as { role?: unknown }).role !== 'user') continue;
      const said = textOf((turn as { content?: unknown }).content);
      if (said === '') continue;
      text = join(text, said);
      taken += 1;
    }
    for (let i = 0; i < turns.length && instructions.length < INSTRUCTION_CHARS; i += 1) {
      const { role, content } = (turns[i] ?? {}) as { role?: unknown; content?: unknown };
      if (role !== 'system' && role !== 'developer') break;
      instructions = join(instructions, textOf(content));
    }
  }
  return join(text, instructions.slice(0, INSTRUCTION_CHARS)).slice(0, MAX_CHARS);
}

function join(a: string, b: string): string {
  return a === '' ? b : b === '' ? a : `${a}\n${b}`;
}

/**
 * A string, or the text parts of a list, as far as they are looked at; the results of tools are parts of a user's
 * turn too, and no words of the person.
 */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content.slice(0, MAX_CHARS);
  if (!Array.isArray(content)) return '';
  let text = '';
  for (const part of content as readonly unknown[]) {
    if (text.length >= MAX_CHARS) break;
    const { type, text: words } = (part ?? {}) as { type?: unknown; text?: unknown };
    if (typeof words === 'string' && (type === 'text' || type === 'input_text'))
      text = join(text, words.slice(0, MAX_CHARS));
  }
  return text.slice(0, MAX_CHARS);
}
