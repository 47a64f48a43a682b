import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';

export interface Asset {
  readonly bytes: Buffer;
  readonly type: string;
}

/** Built files by their URL path, such as `/assets/index-x.js`. */
export type Assets = ReadonlyMap<string, Asset>;

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
};

/**
 * Gives the files below `dist`, held in memory: nothing outside the folder can be named. Reads them again when
 * `index.html` was built anew. Undefined while there is no `index.html`.
 */
export function createAssets(dist: string): () => Promise<Assets | undefined> {
  let builtMs: number | undefined;
  let assets: Assets | undefined;
  return async () => {
    const index = await stat(join(dist, 'index.html')).catch(() => undefined);
    if (index === undefined) return undefined;
    if (assets === undefined || index.mtimeMs !== builtMs) {
      assets = await readAll(dist);
      builtMs = index.mtimeMs;
    }
    return assets;
  };
}

async function readAll(dist: string): Promise<Assets> {
  const entries = await readdir(dist, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const pairs = files.map(async (file): Promise<[string, Asset]> => {
    const path = `/${relative(dist, file).split(sep).join('/')}`;
    return [path, { bytes: await readFile(file), type: TYPES[extname(file)] ?? 'application/octet-stream' }];
  });
  return new Map(await Promise.all(pairs));
}
