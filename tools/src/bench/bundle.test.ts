import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureBundle } from './bundle.ts';

it('counts what the page names and all that this imports, and nothing that is loaded later', () => {
  const dist = mkdtempSync(join(tmpdir(), 'bundle-test-'));
  try {
    mkdirSync(join(dist, 'assets'));
    const files = {
      'index.html':
        '<script type="module" crossorigin src="/assets/index.js"></script><link rel="modulepreload" href="/assets/pre.js"><link rel="stylesheet" href="/assets/a.css">',
      'assets/index.js':
        'import{a as b}from"./shared.js";import"./effect.js";const p=()=>import(`./page.js`),q=()=>import("./other.js");',
      'assets/shared.js': 'import{c}from"./deep.js";export{c as a}',
      'assets/deep.js': 'export const c=1',
      'assets/effect.js': 'import"./index.js"',
      'assets/pre.js': '',
      'assets/page.js': 'import{c}from"./deep.js";import"./only-page.js"',
      'assets/only-page.js': '',
      'assets/other.js': '',
      'assets/a.css': 'a{}',
    };
    for (const [path, text] of Object.entries(files)) writeFileSync(join(dist, path), text);
    const { initial, lazy, styles } = measureBundle(dist);
    expect(initial.map(({ path }) => path).toSorted()).toEqual([
      'assets/deep.js',
      'assets/effect.js',
      'assets/index.js',
      'assets/pre.js',
      'assets/shared.js',
    ]);
    expect(lazy.map(({ path }) => path).toSorted()).toEqual([
      'assets/only-page.js',
      'assets/other.js',
      'assets/page.js',
    ]);
    expect(styles).toMatchObject([{ path: 'assets/a.css', bytes: 3 }]);
  } finally {
    rmSync(dist, { recursive: true });
  }
});
