import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { CliError } from './cli-error.ts';

/** A YAML or JSON file as a value, and where its parts stand in it. */
export interface YamlFile<T> {
  readonly value: T;
  /** `file:line:column` of a path such as `plans.2.policy.priority`, or of what holds it. */
  locate(path: string): string;
}

export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Reads text as the schema says. `${NAME}` inside a text stands for a variable; `$${` for `${` itself.
 *
 * @throws CliError that names every fault with line and column: wrong YAML, a variable that is not set, a wrong field.
 */
export function readYaml<S extends z.ZodType>(
  name: string,
  text: string,
  schema: S,
  variables: Variables,
): YamlFile<z.output<S>> {
  const document = parseDocument(text);
  if (document.errors.length > 0)
    throw new CliError(document.errors.map((error) => `${name}: ${error.message}`).join('\n'));
  const at = (offset: number): string => {
    const before = text.slice(0, offset);
    return `${name}:${before.split('\n').length}:${offset - before.lastIndexOf('\n')}`;
  };
  const locate = (path: string): string => at(offsetOf(document.contents, path === '' ? [] : path.split('.')));
  const missing: string[] = [];
  const value = substitute(document.toJSON(), variables, [], (path, variable) =>
    missing.push(`${locate(path.join('.'))}: the variable ${variable} is not set`),
  );
  if (missing.length > 0) throw new CliError(missing.join('\n'));
  const parsed = schema.safeParse(value ?? {});
  if (parsed.success) return { value: parsed.data, locate };
  throw new CliError(
    parsed.error.issues.map((issue) => faultLine(locate, issue.path.map(String).join('.'), issue.message)).join('\n'),
  );
}

/** One fault as it is printed. */
export function faultLine(locate: (path: string) => string, path: string, message: string): string {
  return `${locate(path)}: ${path === '' ? '' : `${path}: `}${message}`;
}

function substitute(
  value: unknown,
  variables: Variables,
  path: readonly (string | number)[],
  onMissing: (path: readonly (string | number)[], variable: string) => void,
): unknown {
  if (typeof value === 'string') {
    return value.replace(/\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (found, variable: string | undefined) => {
      if (variable === undefined) return '${';
      const set = variables[variable];
      if (set === undefined) onMissing(path, variable);
      return set ?? found;
    });
  }
  if (Array.isArray(value)) return value.map((item, i) => substitute(item, variables, [...path, i], onMissing));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, substitute(field, variables, [...path, name], onMissing)]),
  );
}

interface Node {
  readonly range?: readonly [number, ...number[]] | null;
  readonly items?: readonly unknown[];
}

/**
 * Where the deepest part of the path stands that is there. Names may hold dots, so at a map the longest name that
 * fits is taken.
 */
function offsetOf(node: unknown, path: readonly string[]): number {
  const { range, items } = (node ?? {}) as Node;
  const own = range?.[0] ?? 0;
  if (items === undefined || path.length === 0) return own;
  const [first, ...rest] = path;
  const isMap = items.some((item) => typeof item === 'object' && item !== null && 'key' in item);
  if (!isMap) {
    const item = items[Number(first)];
    return item === undefined ? own : offsetOf(item, rest);
  }
  for (let length = path.length; length > 0; length -= 1) {
    const name = path.slice(0, length).join('.');
    const pair = items.find((item) => keyOf(item) === name) as { key: Node; value?: unknown } | undefined;
    if (pair === undefined) continue;
    return length === path.length ? (pair.key.range?.[0] ?? own) : offsetOf(pair.value, path.slice(length));
  }
  return own;
}

function keyOf(pair: unknown): string | undefined {
  const key: unknown = typeof pair === 'object' && pair !== null ? Reflect.get(pair, 'key') : undefined;
  const value: unknown = typeof key === 'object' && key !== null ? Reflect.get(key, 'value') : key;
  return value === undefined ? undefined : String(value);
}
