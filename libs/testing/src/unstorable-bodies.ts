/** A JSON text with one value that no store can keep, and the field that a refusal must name. */
export interface UnstorableBody {
  readonly field: string;
  readonly json: string;
}

/** As a body carries them; `JSON.stringify` would write some of them otherwise. */
const TEXTS = [String.raw`"a\u0000b"`, String.raw`"a\ud800b"`, String.raw`"\udc00"`];
const NUMBERS = ['1e-320', '-0', '1e999'];
/** Stands for the value until it is written. */
const PLACE = '\u{1f573}';

/**
 * Bodies made of `example` by putting something unstorable in the place of each text and number, and beside the
 * fields of each object: a field named `__proto__`.
 */
export function unstorableBodies(example: unknown): UnstorableBody[] {
  const bodies: UnstorableBody[] = [];
  const write = (root: unknown, field: string, value: string): void =>
    void bodies.push({ field, json: JSON.stringify(root).replace(JSON.stringify(PLACE), () => value) });

  /** `rebuild` gives the whole document with a part in the place of `value`. */
  function visit(value: unknown, path: readonly string[], rebuild: (part: unknown) => unknown): void {
    const field = path.join('.');
    if (typeof value === 'string') for (const text of TEXTS) write(rebuild(PLACE), field, text);
    else if (typeof value === 'number') for (const number of NUMBERS) write(rebuild(PLACE), field, number);
    else if (Array.isArray(value))
      value.forEach((part, at) => visit(part, [...path, String(at)], (other) => rebuild(value.with(at, other))));
    else if (typeof value === 'object' && value !== null) {
      const json = JSON.stringify(rebuild({ ...value, [PLACE]: 1 }));
      bodies.push({ field: [...path, '__proto__'].join('.'), json: json.replace(PLACE, '__proto__') });
      for (const [key, part] of Object.entries(value))
        visit(part, [...path, key], (other) => rebuild({ ...value, [key]: other }));
    }
  }
  visit(example, [], (part) => part);
  return bodies;
}
