import { CONFIG_ROW, CONFIG_TABLES, type ConfigSnapshot, type ConfigTable } from '@sluice/contracts';
import { z } from 'zod';

const Envelope = z.object({ version: z.int().min(1) }).catchall(z.unknown());

/** Parts of rows that are the same in most of them: what a plan says, or nothing. */
const SHARED_PARTS = ['limits', 'override', 'tags'] as const;

type LogFaults = { error(fields: object, message: string): void };

/** Takes the rows of a snapshot one by one, so that a large one need not be in memory twice. */
export interface SnapshotBuilder {
  /** A row that is not valid is logged by its id and left out. */
  add(table: ConfigTable, id: string, row: unknown): void;
  build(version: number): ConfigSnapshot;
}

/** Parts that are equal are one object in all rows, which halves the memory of many workspaces. */
export function createSnapshotBuilder(logger: LogFaults): SnapshotBuilder {
  const tables = Object.fromEntries(CONFIG_TABLES.map((table) => [table, {}])) as Record<ConfigTable, Record<string, unknown>>;
  const parts = new Map<string, unknown>();
  return {
    add(table, id, row) {
      const parsed = CONFIG_ROW[table].safeParse(row);
      if (parsed.success) tables[table][id] = shareParts(parsed.data, parts);
      else logger.error({ table, id, reason: z.prettifyError(parsed.error).slice(0, 500) }, 'configuration row left out: it is not valid');
    },
    build: (version) => ({ version, ...tables }) as ConfigSnapshot,
  };
}

/**
 * A snapshot from its JSON value, row by row: a row that is not valid is logged by its id and left out.
 *
 * @throws ZodError when it is not a snapshot at all.
 */
export function readConfigSnapshot(value: unknown, logger: LogFaults): ConfigSnapshot {
  const envelope = Envelope.parse(value);
  const builder = createSnapshotBuilder(logger);
  for (const table of CONFIG_TABLES) {
    for (const [id, row] of Object.entries(z.record(z.string(), z.unknown()).parse(envelope[table]))) builder.add(table, id, row);
  }
  return builder.build(envelope.version);
}

function shareParts(row: Record<string, unknown>, parts: Map<string, unknown>): Record<string, unknown> {
  for (const name of SHARED_PARTS) {
    const part = row[name];
    if (part === undefined) continue;
    const text = JSON.stringify(part);
    const known = parts.get(text);
    if (known === undefined) parts.set(text, part);
    else row[name] = known;
  }
  return row;
}
