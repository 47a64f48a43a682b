import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root of the checkout. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const SOURCE_FOLDERS = ['apps', 'libs', 'tools', 'infra'];
const NOT_OURS = /(^|\/)(node_modules|dist|out-tsc|cdktf\.out)(\/|$)/;
/** These read the sources to judge pages; names in them are no use of a name. */
const JUDGES = /^tools\/src\/docs\//;

/** A file of the repository as text. */
export function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Paths below a folder whose name ends as told, relative to the root, without what was installed or built. */
export function filesBelow(folder: string, ending: RegExp): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (NOT_OURS.test(path)) continue;
    if (entry.isDirectory()) found.push(...filesBelow(path, ending));
    else if (entry.isFile() && ending.test(entry.name)) found.push(path);
  }
  return found;
}

/** Every TypeScript source of apps, libraries, tools and infrastructure that is no test. */
export function sources(): { path: string; text: string }[] {
  return SOURCE_FOLDERS.flatMap((folder) => filesBelow(folder, /\.tsx?$/))
    .filter((path) => !/\.test\.tsx?$/.test(path) && !JUDGES.test(path))
    .map((path) => ({ path, text: readText(path) }));
}

/** What stands in backticks in the first column of a page's tables. */
export function firstColumn(page: string): string[] {
  return [...page.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1] as string);
}
