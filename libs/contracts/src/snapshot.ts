import { z } from 'zod';
import { ChaosOrder } from './api/chaos.ts';
import { ApiKeyRecord, Cell, Plan, Tenant, Workspace } from './tenancy.ts';
import { KillSwitch, Model, Provider } from './catalogue.ts';

/**
 * Everything a gateway needs to serve, as one immutable versioned value. Tables are keyed by id. Digests of keys are in
 * it, secrets are not.
 */
export const ConfigSnapshot = z.object({
  /** Grows by one with each change. */
  version: z.int().min(1),
  tenants: z.record(z.string(), Tenant),
  workspaces: z.record(z.string(), Workspace),
  keys: z.record(z.string(), ApiKeyRecord),
  plans: z.record(z.string(), Plan),
  providers: z.record(z.string(), Provider),
  models: z.record(z.string(), Model),
  cells: z.record(z.string(), Cell),
  killSwitches: z.record(z.string(), KillSwitch),
});
export type ConfigSnapshot = z.infer<typeof ConfigSnapshot>;

export const CONFIG_TABLES = [
  'tenants',
  'workspaces',
  'keys',
  'plans',
  'providers',
  'models',
  'cells',
  'killSwitches',
] as const;
export type ConfigTable = (typeof CONFIG_TABLES)[number];

/** One change: `value` absent deletes. */
export const ConfigPatch = z.object({
  /** The version after this patch; it applies to `version - 1` only. */
  version: z.int().min(2),
  changes: z.array(z.object({ table: z.enum(CONFIG_TABLES), id: z.string(), value: z.unknown().optional() })).min(1),
});
export type ConfigPatch = z.infer<typeof ConfigPatch>;

/** The schema of one row of each table. */
export const CONFIG_ROW = {
  tenants: Tenant,
  workspaces: Workspace,
  keys: ApiKeyRecord,
  plans: Plan,
  providers: Provider,
  models: Model,
  cells: Cell,
  killSwitches: KillSwitch,
} as const satisfies Record<ConfigTable, z.ZodType>;

/**
 * The snapshot after a patch; the old one is untouched.
 *
 * @throws RangeError when the patch does not follow the snapshot's version (ask for a whole snapshot then).
 * @throws ZodError when a row is not valid.
 */
export function applyPatch(snapshot: ConfigSnapshot, patch: ConfigPatch): ConfigSnapshot {
  if (patch.version !== snapshot.version + 1)
    throw new RangeError(`patch ${patch.version} does not follow version ${snapshot.version}`);
  // Each table that changes is copied once, however many of its rows do.
  const copies = new Map<ConfigTable, Record<string, unknown>>();
  for (const { table, id, value } of patch.changes) {
    let rows = copies.get(table);
    if (rows === undefined) copies.set(table, (rows = { ...snapshot[table] }));
    if (value === undefined) delete rows[id];
    else rows[id] = CONFIG_ROW[table].parse(value);
  }
  return { ...snapshot, version: patch.version, ...Object.fromEntries(copies) };
}

/** Server-sent events of `GET /internal/config/stream?gateway=<id>&since=<version>`: name → data. */
export const ConfigStreamEvent = z.discriminatedUnion('event', [
  z.object({ event: z.literal('snapshot'), data: ConfigSnapshot }),
  z.object({ event: z.literal('patch'), data: ConfigPatch }),
  /** Up to where the ledger holds everything of this gateway, by epoch. */
  z.object({
    event: z.literal('watermark'),
    data: z.object({ gateway_id: z.string(), epoch: z.int(), sequence: z.int() }),
  }),
  /** A chaos order; a gateway obeys it only where chaos is enabled. */
  z.object({ event: z.literal('chaos'), data: ChaosOrder }),
  /** Every 5 s, so that a dead connection is noticed. */
  z.object({ event: z.literal('ping'), data: z.object({ version: z.int() }) }),
]);
export type ConfigStreamEvent = z.infer<typeof ConfigStreamEvent>;
