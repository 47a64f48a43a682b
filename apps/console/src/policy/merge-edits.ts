/**
 * What the workspace overrides, by path (`limits.requests`); undefined where the plan's value holds. Values are
 * plain JSON.
 */
export type Fields = Readonly<Record<string, unknown>>;

/** A field that both have changed, to different values. */
export interface Conflict {
  readonly path: string;
  readonly before: unknown;
  readonly mine: unknown;
  readonly theirs: unknown;
}

export interface Merge {
  /** Theirs where only they changed it, mine where I did; disputed fields hold mine until somebody decides. */
  readonly merged: Fields;
  readonly conflicts: readonly Conflict[];
  /** Paths that only the other person changed, taken over. */
  readonly taken: readonly string[];
}

/** Three-way merge, field by field, of what two people made of the same policy. */
export function mergeEdits(before: Fields, mine: Fields, theirs: Fields): Merge {
  const merged: Record<string, unknown> = {};
  const conflicts: Conflict[] = [];
  const taken: string[] = [];
  for (const path of new Set([before, mine, theirs].flatMap(Object.keys))) {
    const iChanged = !sameValue(mine[path], before[path]);
    const theyChanged = !sameValue(theirs[path], before[path]);
    merged[path] = iChanged ? mine[path] : theirs[path];
    if (theyChanged && !iChanged) taken.push(path);
    if (theyChanged && iChanged && !sameValue(mine[path], theirs[path]))
      conflicts.push({ path, before: before[path], mine: mine[path], theirs: theirs[path] });
  }
  return { merged, conflicts, taken };
}

/** Paths whose values differ. */
export function changedPaths(before: Fields, after: Fields): string[] {
  return [...new Set([before, after].flatMap(Object.keys))].filter((path) => !sameValue(before[path], after[path]));
}

/** Equality of JSON values; the order of an object's keys does not matter, that of a list does. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (
    typeof a !== 'object' ||
    typeof b !== 'object' ||
    a === null ||
    b === null ||
    Array.isArray(a) !== Array.isArray(b)
  )
    return false;
  const left = Object.entries(a).filter(([, value]) => value !== undefined);
  const right = new Map(Object.entries(b).filter(([, value]) => value !== undefined));
  return left.length === right.size && left.every(([key, value]) => right.has(key) && sameValue(value, right.get(key)));
}
