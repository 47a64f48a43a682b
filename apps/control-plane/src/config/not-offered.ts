import type { ConfigTable, Plan, PolicyOverride, Workspace } from '@sluice/contracts';
import type { RowFault } from './row-fault.ts';

const RULES: readonly {
  readonly path: string;
  readonly asks: (policy: PolicyOverride) => boolean;
  readonly message: string;
}[] = [
  {
    path: 'promptLogDays',
    asks: ({ promptLogDays }) => (promptLogDays ?? 0) > 0,
    message: 'keeping prompts is not offered yet; nothing would be kept, so only 0 is possible',
  },
  {
    path: 'cache.mode',
    asks: ({ cache }) => (cache?.mode ?? 'off') !== 'off',
    message: 'a response cache is not offered yet; nothing would be cached, so only off is possible',
  },
  {
    path: 'cache.serveStaleOnOutage',
    asks: ({ cache }) => cache?.serveStaleOnOutage === true,
    message: 'a response cache is not offered yet; there would be nothing to serve, so only false is possible',
  },
];

/**
 * What a row asks for that the contract knows and no part does yet. Only rows that are written are judged: one that was
 * stored before is no reason to refuse a change elsewhere.
 */
export function notOffered(table: ConfigTable, id: string, value: unknown): RowFault[] {
  const [field, policy] =
    table === 'plans'
      ? (['policy', (value as Plan).policy] as const)
      : table === 'workspaces'
        ? (['override', (value as Workspace).override] as const)
        : [];
  if (policy === undefined) return [];
  return RULES.filter(({ asks }) => asks(policy)).map(({ path, message }) => ({
    table,
    id,
    path: `${field}.${path}`,
    message,
  }));
}
