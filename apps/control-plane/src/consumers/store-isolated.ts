import { isRefusedData } from '../db/sql-state.ts';

/**
 * Stores a batch at once; where the database refuses a value in it, one by one, so that the culprit fails alone.
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
    if (!isRefusedData(error)) throw error;
    if (items.length === 1) failed.set(items[0]?.messageId ?? '', `the database refuses it: ${reasonOf(error)}`);
    else for (const item of items) await storeIsolated([item], failed, store);
  }
}

/** What the server said; drizzle puts the statement with its values in front of it. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return (cause instanceof Error ? cause.message : String(cause)).slice(0, 200);
}
