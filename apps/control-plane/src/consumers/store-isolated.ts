import { errorWords } from '@sluice/contracts';
import { sqlState } from '../db/sql-state.ts';

/**
 * SQLSTATE classes that say something about the server or the moment, not about the values: sending again later may
 * help.
 */
const OF_THE_MOMENT = new Set(['08', '25', '26', '40', '42', '53', '55', '57', '58', 'XX']);

/**
 * Stores a batch at once; where it is refused because of a value in it, one by one, so that the culprit fails alone.
 *
 * @throws what `store` throws when the database does not answer: then the whole batch is delivered again.
 */
export async function storeIsolated<T>(
  items: readonly { readonly messageId: string; readonly event: T }[],
  failed: Map<string, string>,
  store: (events: readonly T[]) => Promise<void>,
): Promise<void> {
  if (items.length === 0) return;
  try {
    await store(items.map((item) => item.event));
  } catch (error) {
    if (!isOfTheValues(error)) throw error;
    if (items.length === 1) failed.set(items[0]?.messageId ?? '', `it cannot be stored: ${errorWords(error)}`);
    else for (const item of items) await storeIsolated([item], failed, store);
  }
}

/** True when a value is to blame: the server refused it, or it could not even be written down as a statement. */
function isOfTheValues(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return !OF_THE_MOMENT.has(state.slice(0, 2));
  return error instanceof RangeError || error instanceof TypeError;
}
