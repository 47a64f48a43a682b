import { readFileSync } from 'node:fs';

/** One block of the reference numbers; which fields it has is said in the file itself. */
export type Block = Record<string, unknown>;

/** @param path of the reference numbers. */
export function readVectors(path: string): Record<string, Block> {
  return JSON.parse(readFileSync(path, 'utf8')) as Record<string, Block>;
}

/** Largest absolute difference of two numbers or nested lists of numbers; `Infinity` where their shapes differ. */
export function distance(actual: unknown, expected: unknown): number {
  if (typeof actual === 'number' && typeof expected === 'number')
    return actual === expected ? 0 : Math.abs(actual - expected);
  if (!Array.isArray(actual) || !Array.isArray(expected) || actual.length !== expected.length) return Infinity;
  return Math.max(0, ...actual.map((value, i) => distance(value, expected[i])));
}
