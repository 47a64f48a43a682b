import type { CompiledTable } from '../compiled-config.ts';

interface Entry<V> {
  /** Undefined for a row that cannot be compiled, which was logged and need not be again. */
  value: V | undefined;
  /** The change of the configuration that it was compared with last. */
  checkedAt: number;
}

export interface LazyTable<V> extends CompiledTable<V> {
  /** As `get`, and what was in no use before is not kept. */
  look(id: string): V | undefined;
  /** Something of the configuration has changed: everything is looked at again when it is next asked for. */
  changed(): void;
}

export interface LazyTableDeps<V> {
  readonly rows: () => ReadonlyMap<string, unknown>;
  /**
   * What a row is compiled to; `last` itself where that still holds, undefined when it cannot be compiled. `find`
   * is `get` or `look`.
   */
  readonly compile: (id: string, last: V | undefined, find: 'get' | 'look') => V | undefined;
}

/**
 * Compiles a row when it is first asked for: a hundred thousand workspaces cost their rows, and only those in use
 * more. A change of the configuration costs nothing for those that nobody asks for.
 */
export function createLazyTable<V>({ rows, compile }: LazyTableDeps<V>): LazyTable<V> {
  const entries = new Map<string, Entry<V>>();
  let changes = 0;

  function renew(id: string, entry: Entry<V> | undefined): V | undefined {
    // What is not configured is not remembered, or strangers could fill the memory with names.
    if (!rows().has(id)) {
      if (entry !== undefined) entries.delete(id);
      return undefined;
    }
    const value = compile(id, entry?.value, 'get');
    if (entry === undefined) entries.set(id, { value, checkedAt: changes });
    else {
      entry.value = value;
      entry.checkedAt = changes;
    }
    return value;
  }

  function get(id: string): V | undefined {
    const entry = entries.get(id);
    return entry?.checkedAt === changes ? entry.value : renew(id, entry);
  }

  const look = (id: string): V | undefined => (entries.has(id) ? get(id) : compile(id, undefined, 'look'));

  return {
    get,
    look,
    has: (id) => get(id) !== undefined,
    *values() {
      for (const id of rows().keys()) {
        const value = look(id);
        if (value !== undefined) yield value;
      }
    },
    changed() {
      changes += 1;
      // Of rows that are gone; there cannot be more of them than there are rows.
      if (entries.size > rows().size) for (const id of entries.keys()) if (!rows().has(id)) entries.delete(id);
    },
  };
}
