import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CONFIG_TABLES, type ConfigSnapshot } from '@sluice/contracts';
import { createSilentLog } from '../testing/silent-log.ts';
import { sampleSnapshot } from '../testing/sample-snapshot.ts';
import { readConfigRows } from './config-rows.ts';
import { loadSnapshot, saveSnapshot } from './snapshot-file.ts';

const dir = mkdtempSync(join(tmpdir(), 'snapshot-'));
const path = join(dir, 'snapshot.json');
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** More rows than are written in one turn, with texts that JSON escapes. */
function large(): ConfigSnapshot {
  const snapshot = sampleSnapshot();
  const [key] = Object.values(snapshot.keys);
  if (key === undefined) throw new Error('the sample has no key');
  const keys = Array.from({ length: 1_001 }, (_, n) => ({
    ...key,
    keyId: `samplekey${String(n).padStart(4, '0')}`,
    name: `"${n}"\n\u2603`,
    limits: { tokens: { perMinute: 100 }, quotas: [] },
    tags: { team: 'a' },
  }));
  return { ...snapshot, keys: Object.fromEntries(keys.map((row) => [row.keyId, row])) };
}

const save = (snapshot: ConfigSnapshot): Promise<void> =>
  saveSnapshot(path, { savedAtMs: 5, rows: readConfigRows(structuredClone(snapshot), createSilentLog()) });

/** What is on disk, as the snapshot that it was. */
function load(): { savedAtMs: number; snapshot: unknown } | undefined {
  const saved = loadSnapshot(path, createSilentLog());
  if (saved === undefined) return undefined;
  const { savedAtMs, rows } = saved;
  return {
    savedAtMs,
    snapshot: {
      version: rows.version,
      ...Object.fromEntries(CONFIG_TABLES.map((table) => [table, Object.fromEntries(rows.tables[table])])),
    },
  };
}

it('what is saved in pieces is read back as it was, by its owner only', async () => {
  const snapshot = large();
  await save(snapshot);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
    savedAtMs: 5,
    snapshot: JSON.parse(JSON.stringify(snapshot)),
  });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(load()).toEqual({ savedAtMs: 5, snapshot });
});

it('a file that this gateway wrote is read line by line, never as a whole, whichever tables are empty', async () => {
  await save({ ...large(), killSwitches: {}, cells: {} });
  // The comma after a table's last row is no JSON, so the file can be read in no other way.
  writeFileSync(path, readFileSync(path, 'utf8').replace('\n}\n,"plans"', ',\n}\n,"plans"'));
  expect(load()?.snapshot).toEqual({ ...large(), killSwitches: {}, cells: {} });
});

it('what changes while it is being saved is not in the file', async () => {
  const rows = readConfigRows(large(), createSilentLog());
  const saving = saveSnapshot(path, { savedAtMs: 5, rows });
  rows.apply({ version: 8, changes: [{ table: 'keys', id: 'samplekey1000' }] });
  await saving;
  expect(load()).toEqual({ savedAtMs: 5, snapshot: large() });
});

it('a file that was cut short, or is no configuration, is ignored', async () => {
  await save(large());
  const text = readFileSync(path, 'utf8');
  for (const bad of [
    text.slice(0, text.length / 2),
    text.slice(0, text.lastIndexOf('\n')),
    '',
    '{"savedAtMs":5}',
    'null',
  ]) {
    writeFileSync(path, bad);
    expect(loadSnapshot(path, createSilentLog())).toBeUndefined();
  }
});

it.each([
  ['cut short', (text: string) => text.slice(0, text.indexOf('samplekey0500')), /line 512 .* damaged/],
  [
    'cut short between two rows',
    (text: string) => text.slice(0, text.indexOf('"samplekey0500"')),
    /ends in line 511, before its end/,
  ],
  [
    'damaged in a row',
    (text: string) => text.replace('{"keyId":"samplekey0500"', '{"keyId"="samplekey0500"'),
    /line 512 .* row of keys/,
  ],
  [
    'damaged between tables',
    (text: string) => text.replace(',"plans":{', ',"plums":{'),
    /line 1014 .* should begin or end a table/,
  ],
])('the log says where a file is damaged that is %s', async (_how, damage, said) => {
  await save(large());
  writeFileSync(path, damage(readFileSync(path, 'utf8')));
  const logger = createSilentLog();
  expect(loadSnapshot(path, logger)).toBeUndefined();
  expect(logger.lines.map(({ level, fields }) => [level, (fields as { reason: string }).reason])).toEqual([
    ['warn', expect.stringMatching(said) as string],
  ]);
});

it('is read also where somebody has formatted it anew', async () => {
  const snapshot = large();
  writeFileSync(path, JSON.stringify({ savedAtMs: 5, snapshot }, null, 2));
  expect(load()).toEqual({ savedAtMs: 5, snapshot });
});

it('parts of rows that are equal are one object in memory, others are not', async () => {
  const snapshot = large();
  const [first, second, third] = ['samplekey0000', 'samplekey0001', 'samplekey0002'];
  const keys = {
    ...snapshot.keys,
    [third as string]: { ...snapshot.keys[third as string], limits: { tokens: { perMinute: 7 }, quotas: [] } },
  };
  await save({ ...snapshot, keys } as ConfigSnapshot);
  const read = loadSnapshot(path, createSilentLog())?.rows.tables.keys;
  expect(read?.get(first as string)?.limits).toBe(read?.get(second as string)?.limits);
  expect(read?.get(third as string)?.limits?.tokens?.perMinute).toBe(7);
});

it('other work goes on between the pieces', async () => {
  let turns = 0;
  let next: NodeJS.Immediate | undefined;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  count();
  await save(large());
  clearImmediate(next);
  expect(turns).toBeGreaterThan(5);
});
