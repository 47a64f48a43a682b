import { CONFIG_TABLES, type ConfigSnapshot, type ConfigTable } from '@sluice/contracts';
import { z } from 'zod';
import { createConfigRowReader } from './config-row-reader.ts';

const Envelope = z.object({ version: z.int().min(1) }).catchall(z.unknown());

/**
 * A snapshot from its JSON value, row by row: a row that is not valid is logged by its id and left out.
 *
 * @throws ZodError when it is not a snapshot at all.
 */
export function readConfigSnapshot(
  value: unknown,
  logger: { error(fields: object, message: string): void },
): ConfigSnapshot {
  const envelope = Envelope.parse(value);
  const read = createConfigRowReader(logger);
  const tables = Object.fromEntries(CONFIG_TABLES.map((table) => [table, {}])) as Record<
    ConfigTable,
    Record<string, unknown>
  >;
  for (const table of CONFIG_TABLES) {
    for (const [id, value] of Object.entries(z.record(z.string(), z.unknown()).parse(envelope[table]))) {
      const row = read(table, id, value);
      if (row !== undefined) tables[table][id] = row;
    }
  }
  return { version: envelope.version, ...tables } as ConfigSnapshot;
}
