import { PRINCIPAL_SIGNING_KEY_ENV, SERVICE_TOKEN_ENV } from '@sluice/contracts';
import { firstColumn, readText, sources } from './read-repository.ts';

const page = readText('docs/environment.md');
const documented = new Set(firstColumn(page));
const mentioned = new Set([...page.matchAll(/`(SLUICE_[A-Z0-9_*]+)`/g)].map((match) => match[1] as string));

function isCovered(name: string, names: ReadonlySet<string>): boolean {
  return [...names].some((known) => (known.endsWith('*') ? name.startsWith(known.slice(0, -1)) : known === name));
}

/** Names that a source reads: `env['X']`, `process.env.X`, and the keys of the schemas that `loadConfig` takes. */
function namesRead(text: string): string[] {
  const direct = [
    ...text.matchAll(
      /\benv(?:\??\.)?\[['"]([A-Z][A-Z0-9_]*)['"]\]|\bprocess\.env\.([A-Z][A-Z0-9_]*)|\benv\('([A-Z][A-Z0-9_]*)'\)/g,
    ),
  ];
  const names = direct.map((match) => (match[1] ?? match[2] ?? match[3]) as string);
  if (!/\b(loadConfig|SERVICE_ENV)\b/.test(text)) return names;
  for (const match of text.matchAll(/^\s*([A-Z][A-Z0-9_]+): *\S/gm)) names.push(match[1] as string);
  for (const match of text.matchAll(/\[SERVICE_TOKEN_ENV\.(\w+)\]:/g))
    names.push(SERVICE_TOKEN_ENV[match[1] as keyof typeof SERVICE_TOKEN_ENV]);
  if (text.includes('[PRINCIPAL_SIGNING_KEY_ENV]:')) names.push(PRINCIPAL_SIGNING_KEY_ENV);
  return names;
}

const files = sources();

it('finds variables in both forms, so that the checks below do not pass on nothing', () => {
  const all = new Set(files.flatMap(({ text }) => namesRead(text)));
  for (const name of [
    'DATABASE_URL',
    'SLUICE_OUTBOX_MAX_MB',
    'SLUICE_BFF_URL',
    'SLUICE_TOKEN_ROUTER',
    'SLUICE_PRINCIPAL_KEY',
    'BENCH_ROUNDS',
    'LOG_LEVEL',
  ]) {
    expect(all).toContain(name);
  }
});

it('every variable that a process reads has a row on the page', () => {
  const missing = files.flatMap(({ path, text }) =>
    namesRead(text)
      .filter((name) => !isCovered(name, documented))
      .map((name) => `${name} (${path})`),
  );
  expect(missing).toEqual([]);
});

it('every SLUICE_ name in the sources is on the page', () => {
  const missing = files.flatMap(({ path, text }) =>
    [...text.matchAll(/\bSLUICE_[A-Z0-9_]+/g)]
      .map((match) => match[0])
      .filter((name) => !isCovered(name, mentioned))
      .map((name) => `${name} (${path})`),
  );
  expect(missing).toEqual([]);
});

it('every SLUICE_ name on the page is in the sources', () => {
  const text = files.map((file) => file.text).join('\n');
  const gone = [...mentioned].filter((name) => !text.includes(name.replace('*', '')));
  expect(gone).toEqual([]);
});

it('no variable has two rows', () => {
  const names = firstColumn(page);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
