import { copyFileSync, mkdirSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';

export const MAX_LOG_BYTES = 16 * 1024 * 1024;

/** Opened for appending, so that the part writes on when the supervisor is gone and after the file was emptied. */
export function openLog(path: string): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return openSync(path, 'a', 0o600);
}

/**
 * Keeps one older file of at most the same size. Lines written between copy and emptying are lost; the part never
 * waits.
 */
export function rotateLog(path: string, maxBytes = MAX_LOG_BYTES): boolean {
  try {
    if (statSync(path).size <= maxBytes) return false;
    copyFileSync(path, `${path}.1`);
    truncateSync(path, 0);
    return true;
  } catch {
    return false;
  }
}

/** The last lines that are not empty. */
export function lastLines(path: string, count: number): string[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .slice(-count);
  } catch {
    return [];
  }
}
