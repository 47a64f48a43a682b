/**
 * All but what a JSON string may not hold as it is: quotes, backslashes, control characters, halves of surrogate
 * pairs.
 */
const UNSAFE = /[^\x20\x21\x23-\x5b\x5d-\ud7ff\ue000-\uffff]/;

/** The same text as `JSON.stringify` gives for a string; for the many that need no escapes, without its cost. */
export function jsonString(text: string): string {
  return UNSAFE.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/** A member of an object with the comma before it, or nothing for an absent value. `name` needs no escapes. */
export function optionalMember(name: string, value: string | undefined): string {
  return value === undefined ? '' : `,"${name}":${jsonString(value)}`;
}
