import type { ProviderDialect, Refusal } from '@sluice/contracts';

export type Json = Readonly<Record<string, unknown>>;

const NAME: Partial<Record<ProviderDialect, string>> = { openai: 'OpenAI', anthropic: 'Anthropic' };

/** How a request is carried to another dialect. */
export interface Carriage {
  /** Fields that the provider takes as they are. */
  readonly carryFields: readonly string[];
  /** What cannot be carried is left out, where the workspace wants that; else it is refused. */
  readonly drops: boolean;
}

/**
 * Notes why a request cannot be carried to another dialect; the first reason is the one that the caller reads. A
 * class, so that the translators can go on to their end with whatever stands in for the value. What was refused must be
 * left out by who refused it: the caller may have asked for that.
 */
export class Carrier {
  readonly #to: ProviderDialect;
  readonly #drops: boolean;
  readonly #dropped = new Set<string>();
  #refusal: Refusal | undefined;

  constructor(to: ProviderDialect, drops = false) {
    this.#to = to;
    this.#drops = drops;
  }

  get refusal(): Refusal | undefined {
    return this.#refusal;
  }

  /** Paths of what was left out, in their order. */
  get dropped(): readonly string[] {
    return [...this.#dropped];
  }

  /** The field means something that the other dialect has no word for: left out where the workspace wants that. */
  refuse(param: string, why?: string): void {
    if (this.#drops) this.drop(param);
    else this.cannot(param, why);
  }

  /**
   * Without the field there is no request: refused, whatever the workspace wants.
   *
   * @param details what the caller's SDK recovers by.
   */
  cannot(param: string, why?: string, details?: Refusal['details']): void {
    this.#refusal ??= {
      code: 'unsupported_field',
      param,
      message: `'${param}' cannot be carried to a provider that speaks the ${NAME[this.#to] ?? this.#to} protocol${why === undefined ? '' : `: ${why}`}.`,
      ...(details === undefined ? {} : { details }),
    };
  }

  /** The field is left out, because the other dialect would refuse it here; the caller is told. */
  drop(param: string): void {
    this.#dropped.add(param);
  }

  /** The field is wrong in the caller's own dialect. */
  invalid(param: string, rule: string): void {
    this.#refusal ??= { code: 'invalid_value', param, message: `'${param}' ${rule}.` };
  }

  /** Refuses the members that are set and not among the known ones. */
  onlyKnown(object: Json, known: ReadonlySet<string>, path: string, carryFields: readonly string[] = []): void {
    for (const key in object) {
      const value = object[key];
      if (value === undefined || value === null || known.has(key) || carryFields.includes(key)) continue;
      this.refuse(path === '' ? key : `${path}.${key}`);
      if (!this.#drops) return;
    }
  }
}

/** The value as an array, or undefined. */
export function asArray(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? (value as readonly unknown[]) : undefined;
}

/** A text among unknown values; undefined for anything else. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** True for a value that says nothing: both SDKs send `null` for fields that were not set. */
export function isUnset(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}
