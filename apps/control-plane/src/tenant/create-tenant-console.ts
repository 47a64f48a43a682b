import type { Clock } from '@sluice/contracts';
import { alertRoutes } from '../alerts/alert-routes.ts';
import type { AlertStore } from '../alerts/alert-store.ts';
import { createAlertWatch } from '../alerts/alert-watch.ts';
import type { Route } from '../api/route.ts';
import { workspaceRoutes, type WorkspaceRouteDeps } from '../api/workspace-routes.ts';
import { createBilling } from '../billing/billing.ts';
import type { BillingReader } from '../billing/billing-reader.ts';
import { billingRoutes } from '../billing/billing-routes.ts';
import { createCapKeeper } from '../billing/cap-keeper.ts';
import type { ConfigHistory } from '../config/config-history.ts';
import type { Members } from '../session/members.ts';
import type { People } from '../session/people.ts';
import type { Resolve } from '../webhooks/address-guard.ts';
import { createDeliverer } from '../webhooks/deliverer.ts';
import { createSendWebhook } from '../webhooks/send-webhook.ts';
import type { WebhookStore } from '../webhooks/webhook-store.ts';
import { invitationRoutes } from './invitation-routes.ts';
import { limitFigures } from './limit-figures.ts';
import { memberRoutes } from './member-routes.ts';
import { customerPolicyRoutes } from './policy-routes.ts';
import type { TenantFigures } from './tenant-figures.ts';

/** What the tenants' console stands on. */
export interface TenantPorts {
  readonly figures: TenantFigures;
  readonly history: ConfigHistory;
  readonly members: Members;
  readonly billing: BillingReader;
  readonly alerts: AlertStore;
  readonly webhooks: WebhookStore;
  readonly resolve: Resolve;
  /** Webhooks may go to this machine, over plain http: for tests and demos. */
  readonly webhookLoopback: boolean;
}

export interface TenantConsole {
  readonly routes: readonly Route[];
  /** One second of life: overage caps, alerts and deliveries, when they are due. Never throws. */
  beat(): Promise<void>;
}

export interface TenantConsoleDeps extends Omit<WorkspaceRouteDeps, 'figures' | 'openAlerts'> {
  readonly ports: TenantPorts;
  readonly people: People;
  readonly masterKey: string;
  readonly clock: Clock;
  readonly warn: (what: string) => (error: unknown) => void;
}

/** Everything that the console's backend asks for, and what happens for tenants by itself. */
export function createTenantConsole(deps: TenantConsoleDeps): TenantConsole {
  const { ports, store, clock, people, masterKey, warn } = deps;
  const { history, alerts, webhooks, resolve, webhookLoopback: allowLoopback } = ports;
  const figures = limitFigures(ports.figures);
  const billing = createBilling({ reader: ports.billing, history, snapshot: () => store.snapshot() });
  const keeper = createCapKeeper({
    store,
    billing,
    clock,
    onError: warn('overage caps are not in step with the configuration'),
  });
  const watch = createAlertWatch({
    store,
    alerts,
    meters: (scope, fromMs, toMs) => figures.meters(scope, fromMs, toMs),
    clock,
    onError: warn('alerts cannot be looked for'),
  });
  const deliverer = createDeliverer({
    store: webhooks,
    send: createSendWebhook({ resolve, allowLoopback }),
    masterKey,
    clock,
    random: Math.random,
    onError: warn('webhook deliveries cannot be sent'),
  });
  return {
    routes: [
      ...workspaceRoutes({ ...deps, figures, openAlerts: (slug) => alerts.open(slug) }),
      ...customerPolicyRoutes({ store, history }),
      ...memberRoutes({ store, members: ports.members, people }),
      ...invitationRoutes({ members: ports.members }),
      ...billingRoutes({ store, billing, keeper, clock }),
      ...alertRoutes({ store, alerts, webhooks, deliverer, resolve, allowLoopback, masterKey, clock }),
    ],
    beat: async () => {
      await Promise.all([keeper.beat(), watch.beat(), deliverer.deliver()]);
    },
  };
}
