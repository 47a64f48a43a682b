import { SERVICE_TOKEN_ENV, StackFile } from '@sluice/contracts';
import { DEMO_USERS } from '../demo/demo-tenants.ts';
import type { SupervisorState } from '../supervisor/supervisor-state.ts';
import type { StackSecrets } from './secrets.ts';
import { urlOf, type StackSettings } from './settings.ts';

/** What `.sluice/stack.json` tells those who test against a running stack. */
export function describeStack(
  settings: StackSettings,
  secrets: StackSecrets,
  state: Pick<SupervisorState, 'parts'>,
): StackFile {
  const pid = (name: string) => state.parts.find((part) => part.name === name)?.process?.pid;
  const url = (port: Parameters<typeof urlOf>[1]) => urlOf(settings, port);
  return StackFile.parse({
    mode: 'embedded',
    services: {
      gateway: { url: url('gateway'), adminUrl: url('gatewayAdmin'), pid: pid('gateway') },
      'control-plane': { url: url('controlPlane'), adminUrl: url('controlPlaneAdmin'), pid: pid('control-plane') },
      console: { url: url('console'), pid: pid('console') },
      'console-bff': { url: url('consoleBff'), adminUrl: url('consoleBffAdmin'), pid: pid('console-bff') },
      router: {
        url: url('router'),
        adminUrl: url('routerAdmin'),
        pid: pid('router'),
        token: secrets.tokens[SERVICE_TOKEN_ENV.callersToRouter],
      },
      spine: { url: url('spine'), pid: pid('spine') },
      'provider-sim': {
        url: url('simControl'),
        pid: pid('provider-sim'),
        providers: { primary: url('simPrimary'), secondary: url('simSecondary'), tertiary: url('simTertiary') },
      },
    },
    keys: Object.fromEntries(Object.entries(secrets.keys).map(([slug, { key }]) => [slug, key])),
    operator: secrets.operator,
    users: DEMO_USERS.map(({ email, roles }) => ({ email, password: secrets.passwords[email], roles })),
  });
}
