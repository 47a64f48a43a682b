import type { Clock } from '@sluice/contracts';
import { createPostgresAlertStore } from '../alerts/alert-store.ts';
import { createPostgresBillingReader } from '../billing/billing-reader.ts';
import { createPostgresConfigHistory } from '../config/config-history.ts';
import type { AuditInput } from '../config/config-repository.ts';
import type { Db, Executor } from '../db/open-database.ts';
import { createPostgresMembers } from '../session/members.ts';
import { resolveHost } from '../webhooks/address-guard.ts';
import { createPostgresWebhookStore } from '../webhooks/webhook-store.ts';
import type { TenantPorts } from './create-tenant-console.ts';
import { createPostgresTenantFigures } from './tenant-figures.ts';

/** The tenants' console on PostgreSQL and the system's resolver. */
export function createPostgresTenantPorts(deps: {
  db: Db;
  /** For what people read, apart from the connections of those who write; `db` when absent. */
  reads?: Db;
  clock: Pick<Clock, 'now'>;
  recordAudit: (tx: Executor, input: AuditInput) => Promise<unknown>;
  webhookLoopback: boolean;
}): TenantPorts {
  const { db, reads = db, clock, recordAudit, webhookLoopback } = deps;
  return {
    figures: createPostgresTenantFigures({ db: reads }),
    history: createPostgresConfigHistory({ db: reads }),
    members: createPostgresMembers({ db, clock, recordAudit }),
    billing: createPostgresBillingReader({ db: reads }),
    alerts: createPostgresAlertStore({ db }),
    webhooks: createPostgresWebhookStore({ db, recordAudit }),
    resolve: resolveHost,
    webhookLoopback,
  };
}
