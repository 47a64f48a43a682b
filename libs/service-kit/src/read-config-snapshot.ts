import { CONFIG_ROW, CONFIG_TABLES, type ConfigSnapshot } from '@sluice/contracts';
import { z } from 'zod';

const Envelope = z.object({ version: z.int().min(1) }).catchall(z.unknown());

/**
 * A snapshot from its JSON value, row by row: a row that is not valid is logged by its id and left out.
 *
 * @throws ZodError when it is not a snapshot at all.
 */
export function readConfigSnapshot(value: unknown, logger: { error(fields: object, message: string): void }): ConfigSnapshot {
  const envelope = Envelope.parse(value);
  const snapshot: Record<string, unknown> = { version: envelope.version };
  for (const table of CONFIG_TABLES) {
    const rows = z.record(z.string(), z.unknown()).parse(envelope[table]);
    const good: Record<string, unknown> = {};
    for (const [id, row] of Object.entries(rows)) {
      const parsed = CONFIG_ROW[table].safeParse(row);
      if (parsed.success) good[id] = parsed.data;
      else logger.error({ table, id, reason: z.prettifyError(parsed.error).slice(0, 500) }, 'configuration row left out: it is not valid');
    }
    snapshot[table] = good;
  }
  return snapshot as ConfigSnapshot;
}
