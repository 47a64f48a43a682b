import { StackFile } from '@sluice/contracts';
import { describeStack } from './describe-stack.ts';
import { createSecrets } from './secrets.ts';
import { stackSettings } from './settings.ts';

describe('describeStack', () => {
  const secrets = createSecrets();
  const process = { pid: 4711, startTime: '1' };
  const parts = [{ name: 'gateway', purpose: '', url: '', state: 'ready' as const, restarts: 0, process }];
  const stack = describeStack(stackSettings('/checkout', { SLUICE_PORT_BASE: '1000' }), secrets, { parts });

  it('keeps to the contract when it is read back', () => {
    expect(StackFile.parse(JSON.parse(JSON.stringify(stack)))).toEqual(JSON.parse(JSON.stringify(stack)));
  });

  it('moves every address by the port base and knows the process of each part', () => {
    expect(stack.services.gateway).toEqual({
      url: 'http://127.0.0.1:9080',
      adminUrl: 'http://127.0.0.1:9081',
      pid: 4711,
    });
    expect(stack.services['provider-sim'].providers).toEqual({
      primary: 'http://127.0.0.1:10101',
      secondary: 'http://127.0.0.1:10102',
      tertiary: 'http://127.0.0.1:10103',
    });
  });

  it('gives a key for each workspace, and people of whom one is in two workspaces', () => {
    expect(Object.keys(stack.keys).sort()).toEqual(['acme-prod', 'acme-staging', 'globex-prod', 'initech-prod']);
    expect(stack.users.some((user) => Object.keys(user.roles).length === 2)).toBe(true);
    expect(stack.services.router.token).toBeDefined();
  });
});
