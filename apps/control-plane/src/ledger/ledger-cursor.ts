import { z } from 'zod';
import { ProblemError } from '@sluice/service-kit';

/** The last row of a page: the next page starts below it. */
export interface LedgerPosition {
  /** Instant with microseconds, as the database compares it. */
  readonly at: string;
  readonly eventId: string;
}

const Encoded = z.tuple([
  z.iso.datetime().refine((at) => !at.startsWith('0000')),
  z
    .string()
    .min(1)
    .max(200)
    .refine((id) => !id.includes('\0')),
]);

export function encodeCursor(position: LedgerPosition): string {
  return Buffer.from(JSON.stringify([position.at, position.eventId])).toString('base64url');
}

/** @throws ProblemError 400 when the text is not a cursor of ours. */
export function decodeCursor(cursor: string): LedgerPosition {
  try {
    const [at, eventId] = Encoded.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
    return { at, eventId };
  } catch (error) {
    throw new ProblemError(400, 'The cursor is not valid', {
      detail: 'Send next_cursor of the page before, unchanged.',
      cause: error,
    });
  }
}
