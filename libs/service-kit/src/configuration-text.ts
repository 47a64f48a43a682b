import { CONFIG_TABLES, type ConfigSnapshot, type ConfigTable } from '@sluice/contracts';

/** Rows that are written in one turn of the event loop: about a millisecond of work. */
const ROWS_AT_ONCE = 200;

/** A configuration to be written. */
export interface WrittenConfiguration {
  readonly version: number;
  readonly rowsOf: (table: ConfigTable) => Iterable<readonly [id: string, row: unknown]>;
}

/** The JSON text of a configuration with one row in a line, so that it can be read row by row; piece by piece. */
export function* configurationText({ version, rowsOf }: WrittenConfiguration): Iterable<string> {
  yield `{"version":${version}\n`;
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
  yield '}';
}

/** The same as a gateway saves it. `savedAtMs` is epoch milliseconds. */
export function* savedConfigurationText(savedAtMs: number, configuration: WrittenConfiguration): Iterable<string> {
  yield `{"savedAtMs":${savedAtMs},"snapshot":`;
  yield* configurationText(configuration);
  yield '}';
}

/** A snapshot as what can be written. */
export function writtenSnapshot(snapshot: ConfigSnapshot): WrittenConfiguration {
  return { version: snapshot.version, rowsOf: (table) => Object.entries(snapshot[table]) };
}

/** The event `snapshot` as it goes over the wire, each line of the text in a `data:` line of its own. */
export function snapshotFrame(snapshot: ConfigSnapshot): Buffer {
  const pieces = [Buffer.from('event: snapshot\ndata: ')];
  for (const piece of configurationText(writtenSnapshot(snapshot)))
    pieces.push(Buffer.from(piece.replaceAll('\n', '\ndata: ')));
  return Buffer.concat([...pieces, Buffer.from('\n\n')]);
}
