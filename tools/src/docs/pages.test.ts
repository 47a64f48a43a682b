import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ANTHROPIC_RATE_HEADERS, DEFAULT_PORTS, HEADER, RATE_HEADERS, TOPOLOGY } from '@sluice/contracts';
import { filesBelow, readText, ROOT, sources } from './read-repository.ts';
import { errorTable } from './render-errors.ts';

/** Text with every `a-{b,c}-d` written out, so that a page may name families of headers. */
function expandBraces(text: string): string {
  const expanded = text.replace(
    /([\w-]*)\{([\w,-]+)\}([\w{},-]*)/g,
    (_all, before: string, options: string, after: string) =>
      options
        .split(',')
        .map((option) => `${before}${option}${after}`)
        .join(' '),
  );
  return expanded === text ? text : expandBraces(expanded);
}

describe('docs/api.md', () => {
  const page = readText('docs/api.md');

  it('holds the table of refusals as the catalogue has it', () => {
    expect(page).toContain(errorTable().join('\n'));
  });

  it('names every header that is a contract with callers', () => {
    const text = expandBraces(page);
    expect(
      [...Object.values(HEADER), ...RATE_HEADERS, ...ANTHROPIC_RATE_HEADERS].filter((name) => !text.includes(name)),
    ).toEqual([]);
  });
});

describe('docs/operations.md', () => {
  const page = readText('docs/operations.md');

  it('names every default port', () => {
    expect(Object.entries(DEFAULT_PORTS).filter(([, port]) => !page.includes(String(port)))).toEqual([]);
  });

  it('names every declared queue', () => {
    expect(TOPOLOGY.queues.map((queue) => queue.name).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it('names every metric that the sources make, and no other', () => {
    const made = sources().flatMap(({ text }) =>
      [...text.matchAll(/\.(?:counter|gauge|histogram)\(\s*'(\w+)'/g)].map((match) => match[1] as string),
    );
    const named = [...page.matchAll(/^\| `(sluice_\w+)` \|/gm)].map((match) => match[1] as string);
    expect(made.length).toBeGreaterThan(0);
    expect(named.toSorted()).toEqual([...new Set(made)].toSorted());
  });
});

it('every relative link of a page leads to something', () => {
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    ...['docs', 'apps', 'libs', 'infra', 'tools'].flatMap((folder) => filesBelow(folder, /\.md$/)),
  ];
  const links = pages.flatMap((page) =>
    [...readText(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map((match) => ({ page, target: match[1] as string })),
  );
  const broken = links.filter(
    ({ page, target }) => !/^[a-z]+:/.test(target) && !existsSync(join(ROOT, dirname(page), target)),
  );
  expect(links.length).toBeGreaterThan(10);
  expect(broken).toEqual([]);
});
