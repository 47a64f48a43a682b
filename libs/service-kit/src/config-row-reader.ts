import { CONFIG_ROW, CONFIG_TABLES, type ConfigSnapshot, type ConfigTable } from '@sluice/contracts';
import { z } from 'zod';

/** A row of a table of the configuration. */
export type ConfigRow<T extends ConfigTable = ConfigTable> = ConfigSnapshot[T][string];

/** Parts of rows that are the same in most of them: what a plan says, or nothing. */
const SHARED_PARTS = {
  tenants: ['plan', 'timeZone', 'limits'],
  workspaces: ['cellId', 'override'],
  keys: ['limits', 'tags'],
} as const satisfies Partial<Record<ConfigTable, readonly string[]>>;

/** Distinct parts that are remembered of a table; beyond it they are learned anew. */
const MAX_PARTS = 1_000;

type Fields = Record<string, unknown>;
type ParseRow = (row: unknown) => z.ZodSafeParseResult<unknown>;

/** Validates rows one by one. A row that is not valid is logged by its id and left out: undefined. */
export type ConfigRowReader = <T extends ConfigTable>(table: T, id: string, row: unknown) => ConfigRow<T> | undefined;

/**
 * A reader of many rows. Parts that are equal are validated once and are one object in all rows that have them,
 * which is most of the time and half of the memory of many workspaces. It takes over the rows that it is given.
 */
export function createConfigRowReader(logger: { error(fields: object, message: string): void }): ConfigRowReader {
  const parsers = Object.fromEntries(CONFIG_TABLES.map((table) => [table, parserOf(table)])) as Record<
    ConfigTable,
    ParseRow
  >;
  return <T extends ConfigTable>(table: T, id: string, row: unknown) => {
    const parsed = parsers[table](row);
    if (parsed.success) return parsed.data as ConfigRow<T>;
    logger.error(
      { table, id, reason: z.prettifyError(parsed.error).slice(0, 500) },
      'configuration row left out: it is not valid',
    );
    return undefined;
  };
}

function parserOf(table: ConfigTable): ParseRow {
  switch (table) {
    case 'tenants':
    case 'workspaces':
    case 'keys':
      return sharingParser(CONFIG_ROW[table], SHARED_PARTS[table]);
    default:
      return (row) => CONFIG_ROW[table].safeParse(row);
  }
}

function sharingParser(schema: z.ZodObject, partNames: readonly string[]): ParseRow {
  /** The schema without a look at the parts, which are looked at by themselves. */
  const others = schema.extend(Object.fromEntries(partNames.map((name) => [name, z.any().optional()])));
  const parts = partNames.map((name) => ({ name, read: createPartReader(schema.shape[name] as z.ZodType) }));
  return (row) => {
    const parsed = others.safeParse(row);
    if (!parsed.success) return schema.safeParse(row);
    const whole = compact(row as Fields, parsed.data);
    for (const { name, read } of parts) {
      const part = read((row as Fields)[name]);
      if (part === INVALID) return schema.safeParse(row);
      if (part !== undefined) whole[name] = part;
    }
    return { success: true, data: whole };
  };
}

const INVALID = Symbol('invalid');

function createPartReader(schema: z.ZodType): (part: unknown) => unknown {
  const known = new Map<string | undefined, unknown>();
  return (part) => {
    const text = JSON.stringify(part) as string | undefined;
    if (known.has(text)) return known.get(text);
    const parsed = schema.safeParse(part);
    if (!parsed.success) return INVALID;
    if (known.size >= MAX_PARTS) known.clear();
    known.set(text, parsed.data);
    return parsed.data;
  };
}

/**
 * The row itself where parsing added nothing: what JSON.parse made has exactly the room that it needs, what grew
 * field by field has more.
 */
function compact(row: Fields, parsed: Fields): Fields {
  const names = Object.keys(parsed);
  return names.length === Object.keys(row).length && names.every((name) => parsed[name] === row[name]) ? row : parsed;
}
