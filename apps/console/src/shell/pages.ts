import { lazy, type ComponentType } from 'react';
import type { Permission } from '@sluice/contracts';
import { Overview } from '../overview/overview.tsx';
import type { PageProps } from './page-props.ts';

export interface ConsolePage {
  readonly id: string;
  readonly title: string;
  /** Undefined for what everybody may see. */
  readonly permission: Permission | undefined;
  /** Undefined for a page that the menu does not list. */
  readonly group: 'watch' | 'build' | 'manage' | undefined;
  readonly component: ComponentType<PageProps>;
}

/** Whether the permissions of a person include a page. */
export function maySee(page: Pick<ConsolePage, 'permission'>, permissions: readonly Permission[]): boolean {
  return page.permission === undefined || permissions.includes(page.permission);
}

/** Every page, in the order of the menu. All but the first are loaded when they are first opened. */
export const PAGES = [
  { id: 'overview', title: 'Overview', permission: 'usage:read', group: 'watch', component: Overview },
  {
    id: 'usage',
    title: 'Usage and cost',
    permission: 'usage:read',
    group: 'watch',
    component: lazy(async () => ({ default: (await import('../usage/usage.tsx')).Usage })),
  },
  {
    id: 'requests',
    title: 'Requests',
    permission: 'trace:read',
    group: 'watch',
    component: lazy(async () => ({ default: (await import('../requests/requests.tsx')).Requests })),
  },
  {
    id: 'alerts',
    title: 'Alerts and webhooks',
    permission: 'usage:read',
    group: 'watch',
    component: lazy(async () => ({ default: (await import('../alerts/alerts.tsx')).Alerts })),
  },
  {
    id: 'playground',
    title: 'Playground',
    permission: 'keys:write',
    group: 'build',
    component: lazy(async () => ({ default: (await import('../playground/playground.tsx')).Playground })),
  },
  {
    id: 'keys',
    title: 'API keys',
    permission: 'keys:write',
    group: 'build',
    component: lazy(async () => ({ default: (await import('../keys/keys.tsx')).Keys })),
  },
  {
    id: 'policy',
    title: 'Limits and policy',
    permission: 'policy:read',
    group: 'manage',
    component: lazy(async () => ({ default: (await import('../policy/policy.tsx')).PolicyPage })),
  },
  {
    id: 'members',
    title: 'Members',
    permission: 'members:write',
    group: 'manage',
    component: lazy(async () => ({ default: (await import('../members/members.tsx')).Members })),
  },
  {
    id: 'billing',
    title: 'Billing',
    permission: 'billing:read',
    group: 'manage',
    component: lazy(async () => ({ default: (await import('../billing/billing.tsx')).Billing })),
  },
  {
    id: 'account',
    title: 'Your account',
    permission: undefined,
    group: undefined,
    component: lazy(async () => ({ default: (await import('../account/account.tsx')).Account })),
  },
] as const satisfies readonly ConsolePage[];
