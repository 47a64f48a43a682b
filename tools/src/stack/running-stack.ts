import { StackFile } from '@sluice/contracts';
import { readJson } from './private-file.ts';
import { stackFiles } from './settings.ts';

/** Something the user can put right: its message is all that is printed. */
export class StackError extends Error {}

/** @throws StackError when no healthy stack runs here. */
export function runningStack(dataDir: string): StackFile {
  const stack = StackFile.safeParse(readJson(stackFiles(dataDir).stack)).data;
  if (stack === undefined) throw new StackError('No stack runs here. Start it with `make up`.');
  return stack;
}

export const isRunning = (dataDir: string): boolean => StackFile.safeParse(readJson(stackFiles(dataDir).stack)).success;
