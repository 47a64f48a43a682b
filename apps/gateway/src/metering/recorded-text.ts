/**
 * Text of a caller or a provider as a record carries it: at most `maxLength` UTF-16 units, and nothing that the
 * ledger cannot store. A NUL or half a surrogate pair in it would send the record to the dead letters: the call
 * would be free, and the outbox would wait for its acknowledgement until it takes no calls of anybody. Either
 * becomes U+FFFD.
 */
export function recordedText(text: string, maxLength: number): string {
  return text.slice(0, maxLength).toWellFormed().replaceAll('\0', '\ufffd');
}
