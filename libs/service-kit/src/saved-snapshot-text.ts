import { CONFIG_TABLES, type ConfigSnapshot, type ConfigTable } from '@sluice/contracts';

/** Rows that are written in one turn of the event loop: about a millisecond of work. */
const ROWS_AT_ONCE = 200;

/** A configuration to be saved. */
export interface SavedConfiguration {
  /** When it was known to be current, epoch milliseconds. */
  readonly savedAtMs: number;
  readonly version: number;
  readonly rowsOf: (table: ConfigTable) => Iterable<readonly [id: string, row: unknown]>;
}

/** The JSON text of a configuration as a gateway saves it, with one row in a line, piece by piece. */
export function* savedConfigurationText({ savedAtMs, version, rowsOf }: SavedConfiguration): Iterable<string> {
  yield `{"savedAtMs":${savedAtMs},"snapshot":{"version":${version}\n`;
  for (const table of CONFIG_TABLES) {
    let piece = `,"${table}":{\n`;
    let rows = 0;
    for (const [id, row] of rowsOf(table)) {
      piece += `${rows === 0 ? '' : ',\n'}${JSON.stringify(id)}:${JSON.stringify(row)}`;
      rows += 1;
      if (rows % ROWS_AT_ONCE > 0) continue;
      yield piece;
      piece = '';
    }
    yield `${piece}\n}\n`;
  }
  yield '}}';
}

/** The same of a snapshot. */
export function savedSnapshotText({ savedAtMs, snapshot }: { readonly savedAtMs: number; readonly snapshot: ConfigSnapshot }): Iterable<string> {
  return savedConfigurationText({ savedAtMs, version: snapshot.version, rowsOf: (table) => Object.entries(snapshot[table]) });
}
