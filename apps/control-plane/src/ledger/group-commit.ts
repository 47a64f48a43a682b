export interface GroupCommit<T, R> {
  /**
   * Resolves when these items are committed, with the result of their group; rejects with what `commit` throws for
   * them alone.
   */
  add(items: readonly T[]): Promise<R>;
}

interface Waiting<T, R> {
  readonly items: readonly T[];
  resolve(result: R): void;
  reject(error: unknown): void;
}

/**
 * Commits what several callers bring while a commit runs together in the next one, in the order of arrival. A group
 * that fails is tried again caller by caller, so that nobody fails for another's items. The memory held is what
 * callers wait with.
 *
 * @param maxItems of one group; a single caller's items are never split.
 */
export function createGroupCommit<T, R>(
  commit: (items: readonly T[]) => Promise<R>,
  maxItems: number,
): GroupCommit<T, R> {
  const waiting: Waiting<T, R>[] = [];
  let running = false;

  function takeGroup(): Waiting<T, R>[] {
    const group: Waiting<T, R>[] = [];
    for (let size = 0; waiting.length > 0;) {
      const next = waiting[0] as Waiting<T, R>;
      size += next.items.length;
      if (group.length > 0 && size > maxItems) break;
      group.push(next);
      waiting.shift();
    }
    return group;
  }

  async function commitAlone(one: Waiting<T, R>): Promise<void> {
    try {
      one.resolve(await commit(one.items));
    } catch (error) {
      one.reject(error);
    }
  }

  async function run(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      // Who was just served may have more at hand: it is part of this group, not of the one after.
      await new Promise((resolve) => setImmediate(resolve));
      const group = takeGroup();
      if (group.length === 1) {
        await commitAlone(group[0] as Waiting<T, R>);
        continue;
      }
      try {
        const result = await commit(group.flatMap((one) => one.items));
        for (const one of group) one.resolve(result);
      } catch {
        for (const one of group) await commitAlone(one);
      }
    }
    running = false;
  }

  return {
    add: (items) =>
      new Promise((resolve, reject) => {
        waiting.push({ items, resolve, reject });
        if (!running) void run();
      }),
  };
}
