import { CONFIG_TABLES, type ConfigTable } from '@sluice/contracts';
import type { Log } from '../log.ts';
import { createConfigRows, type ConfigRows } from './config-rows.ts';

/**
 * Reads the text that `configurationText` writes, line by line, so that of what is read no more than one row is in
 * memory beside the rows that are kept.
 */
export interface SnapshotLines {
  /**
   * False when the first line is not that of such a text: then it is to be read in another way.
   *
   * @throws SyntaxError for a later line that does not belong there.
   */
  take(line: string): boolean;
  /**
   * The rows, and makes ready for another text; undefined when none was begun.
   *
   * @throws SyntaxError when the text was cut short.
   */
  finish(): ConfigRows | undefined;
}

const HEAD = /^\{"version":(\d+)$/;
const TABLE = /^,"([a-zA-Z]+)":\{$/;

export function createSnapshotLines(logger: Log): SnapshotLines {
  let rows: ConfigRows | undefined;
  let table: ConfigTable | undefined;
  let lines = 0;
  let ended = false;

  function rowOf(line: string): [id: string, row: unknown] {
    try {
      const [row] = Object.entries(JSON.parse(`{${line.endsWith(',') ? line.slice(0, -1) : line}}`) as object);
      if (row !== undefined) return row;
    } catch {
      // Said below; what the parser says shows a part of the row.
    }
    throw new SyntaxError(`line ${lines} of the configuration should be a row of ${table} and is damaged`);
  }

  return {
    take(line) {
      lines += 1;
      if (rows === undefined) {
        const version = HEAD.exec(line)?.[1];
        if (version === undefined) return false;
        rows = createConfigRows(logger);
        rows.setVersion(Number(version));
      } else if (table !== undefined) {
        if (line === '}') table = undefined;
        // A table without rows has an empty line.
        else if (line !== '') rows.put(table, ...rowOf(line));
      } else if (line === '}') ended = true;
      else {
        table = CONFIG_TABLES.find((name) => name === TABLE.exec(line)?.[1]);
        if (table === undefined)
          throw new SyntaxError(
            `line ${lines} of the configuration should begin or end a table and is ${JSON.stringify(line.slice(0, 60))}`,
          );
      }
      return true;
    },
    finish() {
      const read = rows;
      if (read !== undefined && !ended)
        throw new SyntaxError(`the configuration ends in line ${lines}, before its end`);
      rows = undefined;
      lines = 0;
      ended = false;
      return read;
    },
  };
}
