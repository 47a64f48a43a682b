import { types } from 'node:util';
import type { BodyJob } from './body-job.ts';

/** A job on its way to a worker. The bytes are handed over, not copied. */
export interface WorkerJob {
  readonly id: number;
  readonly job: BodyJob;
  readonly bytes: ArrayBuffer;
}

/** What comes back: the job's bytes, and what it came to. */
export type WorkerAnswer = {
  readonly id: number;
  readonly bytes: ArrayBuffer;
  readonly workMs: number;
} & (
  | {
      readonly ok: true;
      /** Without the bytes that were made. */
      readonly result: unknown;
      readonly made: ArrayBuffer | undefined;
    }
  /** The job's code failed; says nothing of the content. */
  | { readonly ok: false; readonly reason: string }
);

/** The buffer's memory if it has all of it, else a copy: memory that others use cannot be handed over. */
export function ownedBytes(buffer: Buffer): ArrayBuffer {
  const { buffer: memory, byteLength } = buffer;
  if (types.isArrayBuffer(memory) && memory.byteLength === byteLength) return memory;
  const copy = new ArrayBuffer(byteLength);
  buffer.copy(new Uint8Array(copy));
  return copy;
}
