import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fsync,
  fsyncSync,
  ftruncate,
  ftruncateSync,
  open as openFile,
  close,
  openSync,
  rmSync,
  write as writeAt,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

/** What the outbox asks of the file system; replaced by tests of a full or failing disk. */
export interface OutboxFiles {
  /**
   * Makes a file of `bytes` zeros, so that a full disk is met here and not by a record. Leaves nothing behind when
   * it fails.
   */
  allocate(path: string, bytes: number): Promise<void>;
  /** The same at once, for the first file and where the one prepared ahead is not ready. */
  allocateNow(path: string, bytes: number): void;
  /** Writes some bytes of `from` to `to` (exclusive) at a place of an allocated file; how many it took. */
  write(fd: number, bytes: Buffer, from: number, to: number, position: number): number;
  /** Resolves when what was written is on the disk. */
  sync(fd: number): Promise<void>;
}

const ZEROS = Buffer.alloc(256 * 1024);
const [openAsync, writeAsync, syncAsync, fsyncAsync, closeAsync] = [
  promisify(openFile),
  promisify(writeAt),
  promisify(fdatasync),
  promisify(fsync),
  promisify(close),
];
const truncateAsync = promisify(ftruncate);

const ALLOCATE_FLAGS = 'w';

/** The files of the node process. */
export const nodeFiles: OutboxFiles = {
  async allocate(path, bytes) {
    const fd = await openAsync(path, ALLOCATE_FLAGS, 0o600);
    try {
      for (let at = 0; at < bytes;)
        at += (await writeAsync(fd, ZEROS, 0, Math.min(ZEROS.length, bytes - at), at)).bytesWritten;
      await syncAsync(fd);
      await syncFolderAsync(path);
    } catch (error) {
      rmSync(path, { force: true });
      throw error;
    } finally {
      await closeAsync(fd);
    }
  },
  allocateNow(path, bytes) {
    const fd = openSync(path, ALLOCATE_FLAGS, 0o600);
    try {
      for (let at = 0; at < bytes;) at += writeSync(fd, ZEROS, 0, Math.min(ZEROS.length, bytes - at), at);
      syncFolder(path);
    } catch (error) {
      rmSync(path, { force: true });
      throw error;
    } finally {
      closeSync(fd);
    }
  },
  write: (fd, bytes, from, to, position) => writeSync(fd, bytes, from, to - from, position),
  sync: (fd) => syncAsync(fd),
};

/** A new file is found after a power failure only when its folder is on the disk too. */
function syncFolder(path: string): void {
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

async function syncFolderAsync(path: string): Promise<void> {
  const folder = await openAsync(dirname(path), 'r');
  await fsyncAsync(folder).finally(() => closeAsync(folder));
}

/** Gives back what a finished file does not use, and closes it. */
export async function finishFile(fd: number, bytes: number): Promise<void> {
  try {
    await truncateAsync(fd, bytes);
  } finally {
    await closeAsync(fd);
  }
}

/** Cuts a file off, forces the rest to the disk and closes it; for one whose last write failed. */
export function abandonFile(fd: number, bytes: number): void {
  try {
    ftruncateSync(fd, bytes);
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
