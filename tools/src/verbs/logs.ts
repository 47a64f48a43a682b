import { closeSync, existsSync, openSync, readSync, readdirSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { StackError } from '../stack/running-stack.ts';
import { stackFiles, type StackSettings } from '../stack/settings.ts';
import { lastLines } from '../supervisor/part-log.ts';

const LINES = 50;
const POLL_MS = 300;

/** `logs [part] [-f]`: the last lines of one part or of all; `-f` goes on until interrupted. */
export async function logs(settings: StackSettings, args: readonly string[]): Promise<number> {
  const folder = stackFiles(settings.dataDir).logs;
  if (!existsSync(folder)) throw new StackError('There are no logs: no stack runs here. Start it with `make up`.');
  const known = readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .map((name) => name.slice(0, -4));
  const wanted = args.find((arg) => !arg.startsWith('-'));
  if (wanted !== undefined && !known.includes(wanted))
    throw new StackError(`There is no log of ${wanted}; there are ${known.join(', ')}.`);
  const parts = wanted === undefined ? known : [wanted];
  const prefix = (part: string) => (parts.length > 1 ? `${part.padEnd(14)} ` : '');
  for (const part of parts) {
    for (const line of lastLines(stackFiles(settings.dataDir).log(part), parts.length > 1 ? 5 : LINES))
      console.log(prefix(part) + line);
  }
  if (!args.includes('-f')) return 0;
  const offsets = new Map(parts.map((part) => [part, sizeOf(stackFiles(settings.dataDir).log(part))]));
  for (;;) {
    await delay(POLL_MS);
    for (const part of parts) {
      const path = stackFiles(settings.dataDir).log(part);
      const size = sizeOf(path);
      // A smaller file was emptied by rotation.
      const from = size < (offsets.get(part) ?? 0) ? 0 : (offsets.get(part) ?? 0);
      const text = readFrom(path, from, size);
      const whole = text.slice(0, text.lastIndexOf('\n') + 1);
      for (const line of whole.split('\n')) if (line !== '') console.log(prefix(part) + line);
      offsets.set(part, from + Buffer.byteLength(whole));
    }
  }
}

const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0);

function readFrom(path: string, from: number, to: number): string {
  if (to <= from) return '';
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(Math.min(to - from, 1024 * 1024));
    return buffer.toString('utf8', 0, readSync(file, buffer, 0, buffer.length, from));
  } finally {
    closeSync(file);
  }
}
