/** Names of fields, from the outside in; at least one. */
export type Path = readonly [string, ...string[]];

/** What stands at a path of a document; places in a list are told by their number. */
export function valueAt(document: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined,
    document,
  );
}

/**
 * The document with a number at a path, or without it where the text is empty. A limit is replaced as a whole, so the
 * first own value of a limit brings the plan's other values of it along.
 */
export function withValue(document: unknown, path: Path, text: string, effective: unknown): unknown {
  const trimmed = text.trim();
  const number = Number(trimmed);
  const [name, ...rest] = path;
  const own = isObject(document) ? document : {};
  const plan = isObject(effective) ? effective[name] : undefined;
  if (rest.length === 0) {
    const next = { ...own };
    if (trimmed === '') delete next[name];
    else next[name] = Number.isFinite(number) ? number : trimmed;
    return next;
  }
  const bringAlong = rest.length === 1 && own[name] === undefined && trimmed !== '' && isObject(plan);
  const inner = withValue(bringAlong ? { ...plan } : own[name], rest as unknown as Path, text, plan);
  const next: Record<string, unknown> = { ...own, [name]: inner };
  if (isObject(inner) && (Object.keys(inner).length === 0 || (rest.length === 1 && trimmed === ''))) delete next[name];
  return next;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The document with a value at a path, or without it where the value is undefined. */
export function setAt(document: unknown, path: readonly string[], value: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  const own = typeof document === 'object' && document !== null ? (document as Record<string, unknown>) : {};
  const next: Record<string, unknown> | unknown[] = Array.isArray(document) ? [...document] : { ...own };
  const inner = setAt(own[name], rest, value);
  if (inner === undefined) Reflect.deleteProperty(next, name);
  else Reflect.set(next, name, inner);
  return next;
}
