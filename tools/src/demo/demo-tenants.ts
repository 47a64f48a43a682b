import type { Role } from '@sluice/contracts';

/** The window that counts a calendar month's tokens. */
export const MONTH_WINDOW = 'monthly-tokens';

/** Workspaces of the demo, as `tools/demo/platform.yaml` declares them. */
export const DEMO_WORKSPACES = [
  { slug: 'acme-prod', tenant: 'acme' },
  { slug: 'acme-staging', tenant: 'acme' },
  { slug: 'globex-prod', tenant: 'globex' },
  { slug: 'initech-prod', tenant: 'initech' },
] as const;

/** People of the demo, as that file declares them. */
export const DEMO_USERS: readonly { readonly email: string; readonly roles: Readonly<Record<string, Role>> }[] = [
  { email: 'ada@acme.example', roles: { 'acme-prod': 'admin', 'acme-staging': 'admin' } },
  { email: 'dev@acme.example', roles: { 'acme-prod': 'viewer', 'acme-staging': 'developer' } },
  { email: 'fin@acme.example', roles: { 'acme-prod': 'finance' } },
  { email: 'gus@globex.example', roles: { 'globex-prod': 'admin' } },
  { email: 'dora@globex.example', roles: { 'globex-prod': 'developer' } },
  { email: 'ian@initech.example', roles: { 'initech-prod': 'admin' } },
];
