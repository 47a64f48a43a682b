import { z } from 'zod';
import { ProblemError } from '@sluice/service-kit';

/** Query fields of every list: how many, and from where on. */
export const PAGE_FIELDS = {
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  /** `next_cursor` of the page before. */
  cursor: z.string().max(400).optional(),
} as const;

/** A list's answer. */
export function pageOf<T extends z.ZodType>(
  row: T,
): z.ZodObject<{ rows: z.ZodArray<T>; next_cursor: z.ZodNullable<z.ZodString> }> {
  return z.object({ rows: z.array(row), next_cursor: z.string().nullable() });
}

/** Where a page begins: after this id. @throws ProblemError 400 for a cursor that no answer gave. */
export function readCursor(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!text.startsWith(PREFIX) || Buffer.from(text).toString('base64url') !== cursor) {
    throw new ProblemError(400, 'The query is not valid', {
      errors: [{ path: 'cursor', message: 'must be next_cursor of an earlier answer' }],
    });
  }
  return text.slice(PREFIX.length);
}

export const cursorAfter = (id: string): string => Buffer.from(`${PREFIX}${id}`).toString('base64url');

const PREFIX = 'after:';

/**
 * One page of rows in the order of their ids. A row that is added or removed meanwhile moves no other one.
 *
 * @param rows in any order.
 */
export function page<T extends { readonly id: string }>(
  rows: readonly T[],
  query: { readonly limit: number; readonly cursor?: string | undefined },
): { rows: T[]; next_cursor: string | null } {
  const after = readCursor(query.cursor);
  const sorted = rows
    .filter(({ id }) => after === undefined || id > after)
    .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  return cutPage(sorted, query.limit);
}

/**
 * The answer of a page of rows that are sorted already and begin at the cursor; one more than `limit` tells that
 * there are more.
 */
export function cutPage<T extends { readonly id: string }>(
  sorted: readonly T[],
  limit: number,
): { rows: T[]; next_cursor: string | null } {
  const shown = sorted.slice(0, limit);
  const last = shown.at(-1);
  return { rows: shown, next_cursor: last === undefined || sorted.length <= limit ? null : cursorAfter(last.id) };
}
