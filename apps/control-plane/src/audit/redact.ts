import { NAMED_BY_USER, NAMES_ONLY, SHOWN_FIELDS } from './shown-fields.ts';

const NOT_SHOWN = '[not shown]';
const MAX_TEXT = 500;
const MAX_ITEMS = 100;
const MAX_DEPTH = 12;
/** Of the JSON text of `before` or `after`, bytes: both fit into one message with room to spare. */
const MAX_BYTES = 64 * 1024;

/** What a secret looks like, wherever it stands. */
const SECRETS = [
  /sk-[A-Za-z0-9_-]{6,}/g,
  /\b(?:bearer|basic)\s+\S+/gi,
  /\b(?:password|passwd|secret|token|api[-_ ]?key|authorization)["']?\s*[=:]\s*\S+/gi,
  /\beyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)*/g,
  /-----BEGIN [A-Z ]+-----[\s\S]*?(?:-----END [A-Z ]+-----|$)/g,
  /(?<=:\/\/)[^/?#\s@]+@/g,
];

/** Text without what looks like a secret, bounded, and of characters that the database takes. */
export function redactText(text: string): string {
  const clean = SECRETS.reduce(
    (rest, pattern) => rest.replace(pattern, '[redacted]'),
    text.toWellFormed().replaceAll('\u0000', '\ufffd'),
  );
  return clean.length <= MAX_TEXT ? clean : `${clean.slice(0, MAX_TEXT)}… (${text.length} characters)`;
}

/**
 * State as an audit record may show it: built from the fields that are known to be no secrets, never by taking
 * secrets out. Whatever is left out is marked. Larger than 64 KiB, only its size is told.
 */
export function redactState(value: unknown): unknown {
  const shown = show(value, 0, false);
  const bytes = Buffer.byteLength(JSON.stringify(shown) ?? '');
  return bytes <= MAX_BYTES ? shown : { message: `not shown, because it has ${bytes} bytes; at most ${MAX_BYTES} are` };
}

function show(value: unknown, depth: number, freeNames: boolean): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  if (typeof value !== 'object') return NOT_SHOWN;
  if (depth >= MAX_DEPTH) return NOT_SHOWN;
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_ITEMS).map((item) => show(item, depth + 1, false));
    return value.length > MAX_ITEMS ? [...items, `… ${value.length - MAX_ITEMS} more`] : items;
  }
  const out: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    if (field === undefined) continue;
    const shownName = redactText(name);
    if (shownName === '__proto__') continue;
    if (freeNames || SHOWN_FIELDS.has(name)) out[shownName] = showField(name, field, depth, freeNames);
    else out[/^[A-Za-z][A-Za-z0-9_]{0,39}$/.test(shownName) ? shownName : 'other'] = NOT_SHOWN;
  }
  return out;
}

function showField(name: string, field: unknown, depth: number, freeNames: boolean): unknown {
  if (!freeNames && NAMES_ONLY.has(name) && typeof field === 'object' && field !== null)
    return Object.keys(field).slice(0, MAX_ITEMS).map(redactText);
  if (name === 'baseUrl' && typeof field === 'string' && URL.canParse(field))
    return redactText(`${new URL(field).origin}${new URL(field).pathname}`);
  return show(field, depth + 1, !freeNames && NAMED_BY_USER.has(name));
}
