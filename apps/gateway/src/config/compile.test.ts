import type { ConfigPatch } from '@sluice/contracts';
import { tenantOfCell } from '../compiled-config.ts';
import { compiledSample } from '../testing/compiled-sample.ts';
import { sampleSnapshot } from '../testing/sample-snapshot.ts';
import { createSilentLog } from '../testing/silent-log.ts';
import { createAddressAllowlist } from './address-allowlist.ts';
import { createCompiler } from './compile.ts';
import { readConfigRows } from './config-rows.ts';

type Change = ConfigPatch['changes'][number];

/** The sample in force, and changes of it one after another. */
function following() {
  const logger = createSilentLog();
  const rows = readConfigRows(sampleSnapshot(), logger);
  const compile = createCompiler({ logger });
  const config = compile(rows);
  return {
    config,
    logger,
    change: (...changes: Change[]) => {
      rows.apply({ version: rows.version + 1, changes });
      return compile(rows);
    },
  };
}

it('what a patch did not touch is the same object in the next version, and what it did is in force', () => {
  const { config, change } = following();
  const [acme, key, globex] = [
    config.workspaces.get('acme-prod'),
    config.keys.get('acmekey001'),
    config.workspaces.get('globex-prod'),
  ];
  const second = change({
    table: 'tenants',
    id: 'globex',
    value: { ...sampleSnapshot().tenants.globex, name: 'Globex Inc.' },
  });
  expect(second.version).toBe(8);
  expect(second.workspaces.get('acme-prod')).toBe(acme);
  expect(second.keys.get('acmekey001')).toBe(key);
  expect(second.workspaces.get('globex-prod')?.tenant.name).toBe('Globex Inc.');
  expect(second.keys.get('globexkey01')?.workspace).toBe(second.workspaces.get('globex-prod'));
  // A call that runs since before the change goes on with what it began with.
  expect(globex?.tenant.name).toBe('globex');
});

it('a key is refused from the change on in which it, or its workspace, was deleted, and is there again with it', () => {
  const { config, change } = following();
  expect([config.keys.has('acmekey001'), config.keys.has('globexkey01')]).toEqual([true, true]);
  const second = change({ table: 'keys', id: 'acmekey001' }, { table: 'workspaces', id: 'globex-prod' });
  expect([second.keys.has('acmekey001'), second.keys.has('globexkey01'), second.keys.has('fencedkey01')]).toEqual([
    false,
    false,
    true,
  ]);
  const third = change({ table: 'workspaces', id: 'globex-prod', value: sampleSnapshot().workspaces['globex-prod'] });
  expect(third.keys.get('globexkey01')?.workspace.workspace.slug).toBe('globex-prod');
});

it('a kill switch stops the workspaces that it names, in use or not, until it is lifted', () => {
  const { config, change } = following();
  config.workspaces.get('acme-prod');
  const kill = { id: 'k', scope: 'workspace', target: 'acme-prod', message: 'Stop.', retryAfterSeconds: 5 };
  const stopped = change({ table: 'killSwitches', id: 'k', value: kill });
  expect(['acme-prod', 'globex-prod'].map((slug) => stopped.workspaces.get(slug)?.killSwitch?.message)).toEqual([
    'Stop.',
    undefined,
  ]);
  expect(change({ table: 'killSwitches', id: 'k' }).workspaces.get('acme-prod')?.killSwitch).toBeUndefined();
});

it("a cell is a tenant's own from the change on that dedicates it, and no longer than that", () => {
  const { config, change } = following();
  expect(tenantOfCell(undefined, 'cell-2')).toBeUndefined();
  const own = change({ table: 'cells', id: 'cell-2', value: { id: 'cell-2', kind: 'dedicated', tenant: 'globex' } });
  expect([config, own].map((version) => tenantOfCell(version, 'cell-2'))).toEqual([undefined, 'globex']);
  expect(tenantOfCell(own, 'cell-shared-1')).toBeUndefined();
  expect(
    tenantOfCell(change({ table: 'cells', id: 'cell-2', value: { id: 'cell-2', kind: 'shared' } }), 'cell-2'),
  ).toBeUndefined();
});

it('a look at everything is complete, and keeps nothing that was in no use', () => {
  const { config } = following();
  const used = config.keys.get('acmekey001');
  const all = [...config.keys.values()];
  expect(all.map(({ record }) => record.keyId)).toEqual(Object.keys(sampleSnapshot().keys));
  expect(all[0]).toBe(used);
  expect([...config.keys.values()][1]).not.toBe(all[1]);
  expect([...config.workspaces.values()][1]).not.toBe(all[1]?.workspace);
});

it('the limits of tenant, workspace and key stand in this order', () => {
  expect(
    compiledSample()
      .keys.get('narrowkey01')
      ?.scope.levels.map(({ level, id }) => [level, id]),
  ).toEqual([
    ['tenant', 'acme'],
    ['workspace', '00000000-0000-4000-8000-000000000001'],
    ['key', 'narrowkey01'],
  ]);
});

it('a workspace without a tenant is not there, nor are its keys, and that is logged once; the others keep their overrides', () => {
  const logger = createSilentLog();
  const config = compiledSample((raw) => {
    (raw.workspaces['acme-prod'] as Record<string, unknown>).override = { maxBodyBytes: 2048 };
    (raw.workspaces['globex-prod'] as Record<string, unknown>).tenant = 'nobody';
  }, logger);
  expect(config.workspaces.get('acme-prod')?.policy.maxBodyBytes).toBe(2048);
  expect([
    config.workspaces.has('globex-prod'),
    config.keys.has('globexkey01'),
    config.workspaces.has('globex-prod'),
  ]).toEqual([false, false, false]);
  expect(logger.lines.map((line) => line.fields)).toEqual([{ workspace: 'globex-prod', tenant: 'nobody' }]);
});

it.each([
  [undefined, '8.8.8.8', true],
  [['10.0.0.0/8'], '10.1.2.3', true],
  [['10.0.0.0/8'], '::ffff:10.1.2.3', true],
  [['10.0.0.0/8'], '11.0.0.1', false],
  [['2001:db8::/32'], '2001:db8::1', true],
  [['nonsense'], '10.0.0.1', false],
  [['10.0.0.0/8'], '', false],
])('ranges %j and address %s: %s', (ranges, address, allowed) => {
  expect(createAddressAllowlist(ranges)(address)).toBe(allowed);
});
