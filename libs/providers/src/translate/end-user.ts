import { createHash } from 'node:crypto';

/** The id of an end user within a bound: a longer one is given as its SHA-256, which stands for the same user. */
export function boundedUser(id: string, maxChars: number): string {
  return id.length <= maxChars ? id : createHash('sha256').update(id).digest('hex');
}
