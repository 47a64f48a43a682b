import { readSettings } from './environment.ts';

const NEEDED = {
  SLUICE_DATA_DIR: '/data',
  SLUICE_CONTROL_PLANE_URL: 'http://127.0.0.1:9090',
  SLUICE_TOKEN_GATEWAY: '0123456789abcdef',
};

it('a tenant may have a quarter of the outbox, or what is set', () => {
  expect(readSettings(NEEDED).outboxTenantShare).toBe(0.25);
  expect(
    readSettings({ ...NEEDED, SLUICE_OUTBOX_WORKSPACE_PERCENT: '', SLUICE_OUTBOX_TENANT_PERCENT: '100' })
      .outboxTenantShare,
  ).toBe(1);
});

it('the share by workspace, which is no more, is refused with the name of what took its place', () => {
  expect(() => readSettings({ ...NEEDED, SLUICE_OUTBOX_WORKSPACE_PERCENT: '25' })).toThrow(
    'SLUICE_OUTBOX_WORKSPACE_PERCENT is not valid: the share of the outbox is counted by tenant now, in all its workspaces; set SLUICE_OUTBOX_TENANT_PERCENT instead.',
  );
});
