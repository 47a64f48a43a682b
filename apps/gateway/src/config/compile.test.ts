import { applyPatch } from '@sluice/contracts';
import { sampleSnapshot } from '../testing/sample-snapshot.ts';
import { createSilentLog } from '../testing/silent-log.ts';
import { createAddressAllowlist } from './address-allowlist.ts';
import { createCompiler } from './compile.ts';

it('what a patch did not touch is the same object in the next version', () => {
  const compile = createCompiler({ logger: createSilentLog() });
  const before = sampleSnapshot();
  const first = compile(before);
  const tenant = { ...before.tenants.globex, name: 'Globex Inc.' };
  const second = compile(applyPatch(before, { version: 8, changes: [{ table: 'tenants', id: 'globex', value: tenant }] }));
  expect(second.workspaces.get('acme-prod')).toBe(first.workspaces.get('acme-prod'));
  expect(second.keys.get('acmekey001')).toBe(first.keys.get('acmekey001'));
  expect(second.workspaces.get('globex-prod')?.tenant.name).toBe('Globex Inc.');
  expect(second.keys.get('globexkey01')?.workspace).toBe(second.workspaces.get('globex-prod'));
});

it('the limits of tenant, workspace and key stand in this order', () => {
  const key = createCompiler({ logger: createSilentLog() })(sampleSnapshot()).keys.get('narrowkey01');
  expect(key?.scope.levels.map(({ level, id }) => [level, id])).toEqual([
    ['tenant', 'acme'],
    ['workspace', '00000000-0000-4000-8000-000000000001'],
    ['key', 'narrowkey01'],
  ]);
});

it('a workspace without a tenant is left out, with its keys, and logged; the others keep their overrides', () => {
  const logger = createSilentLog();
  const config = createCompiler({ logger })(
    sampleSnapshot((raw) => {
      (raw.workspaces['acme-prod'] as Record<string, unknown>).override = { maxBodyBytes: 2048 };
      (raw.workspaces['globex-prod'] as Record<string, unknown>).tenant = 'nobody';
    }),
  );
  expect(config.workspaces.get('acme-prod')?.policy.maxBodyBytes).toBe(2048);
  expect([config.workspaces.has('globex-prod'), config.keys.has('globexkey01')]).toEqual([false, false]);
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
