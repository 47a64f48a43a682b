import type { InvitationView } from '@sluice/contracts';
import type { ConfigRepository } from '../config/config-repository.ts';
import type { TenantPorts } from '../tenant/create-tenant-console.ts';

/**
 * The tenants' console without a database: nothing was ever used, nobody is a member, operators' invitations are kept, and what configuration rows
 * used to be comes from the repository.
 */
export function memoryTenantPorts(repository: Pick<ConfigRepository, 'patchesAfter'>): TenantPorts {
  const invited: InvitationView[] = [];
  const sums = { calls: 0, input_tokens: 0, output_tokens: 0, billed_nanousd: 0 };
  const rows = async (table: string, id: string) =>
    ((await repository.patchesAfter(0)) ?? []).flatMap(({ version, changes }) => {
      const change = changes.findLast((one) => one.table === table && one.id === id);
      return change === undefined ? [] : [{ version, atMs: 0, value: change.value }];
    });
  return {
    figures: {
      usageGroups: async () => ({ groups: [], totals: { key: null, now: sums, previous: sums } }),
      requests: async () => ({ found: [], next_cursor: null }),
      meters: async () => ({ input_tokens: 0, output_tokens: 0, total_tokens: 0, cost_nanousd: 0 }),
      latency: async () => null,
      series: async ({ metric, fromMs, toMs }) => ({
        metric,
        from: new Date(fromMs).toISOString(),
        to: new Date(toMs).toISOString(),
        step_s: 1,
        samples: 0,
        downsampled: false,
        points: [],
      }),
    },
    history: {
      of: rows,
      at: async (table, id, version) => (await rows(table, id)).find((row) => row.version === version),
    },
    members: {
      list: async () => [],
      // Operators invite only; who is a colleague in a customer's workspace is a member at once.
      add: async ({ workspace, tenant, actor }, email, role) => {
        if (actor.kind !== 'operator') return { id: 'u2', email, role };
        const id = `inv_${invited.length}`;
        const expiresMs = Date.UTC(2100, 0, 1);
        invited.push({ id, email, role, workspace, tenant, expires_at: new Date(expiresMs).toISOString() });
        return { id, email, role, expiresMs, invitation: `secret of ${email} for ${workspace}` };
      },
      setRole: async () => undefined,
      remove: async () => false,
      openInvitations: async ({ limit, after = '' }) => invited.filter(({ id }) => id > after).slice(0, limit),
      takeBack: async () => false,
      invitation: async () => undefined,
      accept: async () => false,
      acceptAs: async () => false,
      invitationsOf: async () => [],
      decline: async () => false,
    },
    billing: {
      firstDayMs: async () => undefined,
      tokens: async () => 0,
      byModel: async () => [],
      credits: async () => 0,
      daily: async () => [],
    },
    alerts: {
      update: async () => ({ raised: 0, ended: 0 }),
      list: async () => ({ rows: [], next_cursor: null }),
      open: async () => 0,
      refusals: async () => [],
    },
    webhooks: {
      list: async () => [],
      create: () => Promise.reject(new Error('no webhooks here')),
      update: async () => undefined,
      remove: async () => false,
      deliveries: async () => undefined,
      addTest: async () => undefined,
      take: async () => [],
      ended: async () => undefined,
    },
    resolve: async () => [],
    webhookLoopback: false,
  };
}
