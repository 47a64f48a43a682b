import { CONFIG_TABLES, type ConfigSnapshot } from '@sluice/contracts';

/** Rows that are written in one turn of the event loop: about a millisecond of work. */
const ROWS_AT_ONCE = 200;

/** The JSON text of a configuration as a gateway saves it, with one row in a line, piece by piece. `savedAtMs` is epoch milliseconds. */
export function* savedSnapshotText({ savedAtMs, snapshot }: { readonly savedAtMs: number; readonly snapshot: ConfigSnapshot }): Iterable<string> {
  yield `{"savedAtMs":${savedAtMs},"snapshot":{"version":${snapshot.version}\n`;
  for (const table of CONFIG_TABLES) {
    let piece = `,"${table}":{\n`;
    let rows = 0;
    for (const [id, row] of Object.entries(snapshot[table])) {
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
