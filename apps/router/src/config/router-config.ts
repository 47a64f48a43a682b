import {
  mergePolicy,
  type ApiKeyRecord,
  type ConfigSnapshot,
  type KillSwitch,
  type Model,
  type Policy,
  type Price,
  type PriceBook,
  type Provider,
} from '@sluice/contracts';

/** A workspace as far as a decision needs it. */
export interface RoutedWorkspace {
  readonly slug: string;
  readonly tenant: string;
  readonly suspended: boolean;
  readonly policy: Policy;
  readonly priceBook: PriceBook;
}

export interface RoutedKey {
  readonly record: ApiKeyRecord;
  readonly digest: Buffer;
  readonly expiresAtMs: number;
  readonly workspace: RoutedWorkspace;
}

/** One version of the configuration, compiled for look-ups. */
export interface RouterConfig {
  readonly version: number;
  readonly workspaces: ReadonlyMap<string, RoutedWorkspace>;
  readonly keys: ReadonlyMap<string, RoutedKey>;
  readonly models: ReadonlyMap<string, Model>;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly killSwitches: readonly KillSwitch[];
  /** Ids of all models that can chat, in the catalogue's order. */
  readonly chatModels: readonly string[];
}

/** Derives what decisions look up; a workspace that cannot be compiled is logged and left out. */
export function compileConfig(
  snapshot: ConfigSnapshot,
  logger: { error(fields: object, message: string): void },
): RouterConfig {
  const workspaces = new Map<string, RoutedWorkspace>();
  for (const workspace of Object.values(snapshot.workspaces)) {
    const tenant = snapshot.tenants[workspace.tenant];
    const plan = tenant === undefined ? undefined : snapshot.plans[tenant.plan];
    if (tenant === undefined || plan === undefined) {
      logger.error({ workspace: workspace.slug }, 'workspace left out: its tenant or plan does not exist');
      continue;
    }
    try {
      workspaces.set(workspace.slug, {
        slug: workspace.slug,
        tenant: tenant.id,
        suspended: tenant.status === 'suspended' || workspace.status === 'suspended',
        policy: mergePolicy(plan.policy, workspace.override),
        priceBook: plan.priceBook,
      });
    } catch (error) {
      logger.error(
        { workspace: workspace.slug, reason: error instanceof Error ? error.message.slice(0, 300) : 'unknown' },
        'workspace left out: its policy is impossible',
      );
    }
  }
  const keys = new Map<string, RoutedKey>();
  for (const record of Object.values(snapshot.keys)) {
    const workspace = workspaces.get(record.workspace);
    if (workspace === undefined) continue;
    keys.set(record.keyId, {
      record,
      digest: Buffer.from(record.digest, 'hex'),
      expiresAtMs: record.expiresAt === undefined ? Infinity : Date.parse(record.expiresAt),
      workspace,
    });
  }
  const models = new Map(Object.entries(snapshot.models));
  return {
    version: snapshot.version,
    workspaces,
    keys,
    models,
    providers: new Map(Object.entries(snapshot.providers)),
    killSwitches: Object.values(snapshot.killSwitches),
    chatModels: [...models.values()].filter(({ abilities }) => abilities.includes('chat')).map(({ id }) => id),
  };
}

/**
 * What a customer is billed for a model, or the stated default of its policy; undefined where the policy refuses
 * unpriced calls.
 */
export function billedPrice({ priceBook, policy }: RoutedWorkspace, model: string): Price | undefined {
  const listed = Object.hasOwn(priceBook.prices, model) ? priceBook.prices[model] : undefined;
  if (listed !== undefined) return listed;
  if (policy.unknownPrice.mode === 'refuse') return undefined;
  const { picoUsdPerToken } = policy.unknownPrice;
  return { inputPicoUsd: picoUsdPerToken, outputPicoUsd: picoUsdPerToken };
}
