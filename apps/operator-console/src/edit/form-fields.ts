/** A field of a form for a part of a document: a text, a choice, or a number in the unit that people think in. */
export interface FormField {
  readonly label: string;
  readonly path: readonly string[];
  /** What is wrong at this path, or below it, is told at this field; its own path when absent. */
  readonly tells?: readonly string[];
  readonly hint?: string;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly choices?: readonly { readonly value: string | boolean | undefined; readonly word: string }[];
  /** Of a number: how many of the document's units one of the shown unit has. */
  readonly scale?: number;
  readonly suggestions?: readonly string[];
  /** Typed hidden. */
  readonly secret?: boolean;
  /** The document after this field was given a value; the value goes to the path when absent. */
  readonly write?: (document: unknown, value: unknown) => unknown;
}

export interface FieldFaults {
  readonly of: (field: FormField) => readonly string[];
  /** Whether one of the fields tells what is wrong at a path. */
  readonly told: (path: string) => boolean;
}

/**
 * Gives each fault to the field that is nearest to it: the one of its path, or of the longest path that it lies
 * below.
 */
export function faultsOfFields(
  faults: readonly { readonly path: string; readonly message: string }[],
  fields: readonly FormField[],
): FieldFaults {
  const pathOf = ({ tells, path }: FormField): string => (tells ?? path).join('.');
  const paths = fields.map(pathOf);
  const nearest = (at: string): string | undefined =>
    paths.filter((path) => at === path || at.startsWith(`${path}.`)).toSorted((a, b) => b.length - a.length)[0];
  return {
    of: (field) => faults.filter(({ path }) => nearest(path) === pathOf(field)).map(({ message }) => message),
    told: (at) => nearest(at) !== undefined,
  };
}
