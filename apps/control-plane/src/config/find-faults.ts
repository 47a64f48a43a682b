import { z } from 'zod';
import {
  AUTO_MODEL,
  EXPORTABLE_TENANT_ID,
  exportTenants,
  mergePolicy,
  PRIORITY_WEIGHT,
  type ChainEntry,
  type ConfigSnapshot,
  type ConfigTable,
  type Credential,
  type Policy,
  type PolicyOverride,
  type Provider,
  type Routing,
  type Workspace,
} from '@sluice/contracts';
import { checkModelRules } from './check-model-rules.ts';
import { fieldPath } from './config-rows.ts';
import type { RowFault } from './row-fault.ts';

type Report = (path: string, message: string) => void;

/**
 * Everything in a configuration that points at nothing or cannot be: dangling references, a chain that names the
 * same place twice, a workspace whose plan and overrides do not fit together or leave nothing that could serve it.
 * Chains cannot loop, because an entry names a provider and never another chain; successors of models can, and are
 * refused.
 */
export function findFaults(config: ConfigSnapshot): RowFault[] {
  const faults: RowFault[] = [];
  const reporter =
    (table: ConfigTable, id: string): Report =>
    (path, message) =>
      faults.push({ table, id, path, message });
  for (const row of Object.values(config.tenants))
    need(config.plans, row.plan, 'plan', 'plan', reporter('tenants', row.id));
  for (const id of exportTenants(config)) {
    if (!EXPORTABLE_TENANT_ID.test(id))
      reporter('tenants', id)(
        'id',
        'cannot name an export queue, and its policy has auditExport: it must be 1 to 63 letters, digits, hyphens or underscores',
      );
  }
  for (const row of Object.values(config.cells)) {
    const report = reporter('cells', row.id);
    if (row.tenant !== undefined) need(config.tenants, row.tenant, 'tenant', 'tenant', report);
    if (row.kind === 'dedicated' && row.tenant === undefined)
      report('tenant', 'must name the one tenant that a dedicated cell serves');
    if (row.kind === 'shared' && row.tenant !== undefined)
      report('tenant', 'must be absent: a shared cell serves every tenant');
  }
  for (const slug of Object.keys(config.workspaces)) checkWorkspace(config, slug, reporter('workspaces', slug));
  for (const row of Object.values(config.keys)) {
    const report = reporter('keys', row.keyId);
    need(config.workspaces, row.workspace, 'workspace', 'workspace', report);
    row.allowModels?.forEach((model, i) => need(config.models, model, 'model', `allowModels.${i}`, report));
  }
  for (const row of Object.values(config.plans)) {
    const report = reporter('plans', row.id);
    checkRouting(config, row.policy.routing, 'policy.routing', report);
    checkModelRules(config, row.policy.routing, 'policy.routing', report);
    checkAllowedProviders(config, row.policy.dataRules.allowedProviders, 'policy.dataRules', report);
    for (const model of Object.keys(row.priceBook.prices))
      need(config.models, model, 'model', `priceBook.prices.${model}`, report);
  }
  for (const id of Object.keys(config.providers)) checkProvider(config, id, reporter('providers', id));
  for (const id of Object.keys(config.models)) checkModel(config, id, reporter('models', id));
  for (const id of Object.keys(config.killSwitches)) checkKillSwitch(config, id, reporter('killSwitches', id));
  return faults;
}

function need(table: Record<string, unknown>, id: string, noun: string, path: string, report: Report): boolean {
  if (Object.hasOwn(table, id)) return true;
  report(path, `there is no ${noun} ${id}`);
  return false;
}

function checkWorkspace(config: ConfigSnapshot, slug: string, report: Report): void {
  const row = config.workspaces[slug];
  if (row === undefined) return;
  const tenant = need(config.tenants, row.tenant, 'tenant', 'tenant', report) ? config.tenants[row.tenant] : undefined;
  if (need(config.cells, row.cellId, 'cell', 'cellId', report)) {
    const cell = config.cells[row.cellId];
    if (cell?.kind === 'dedicated' && cell.tenant !== row.tenant)
      report('cellId', `cell ${row.cellId} is dedicated to ${cell.tenant === undefined ? 'nobody' : 'another tenant'}`);
  }
  checkRouting(config, row.override.routing ?? {}, 'override.routing', report);
  checkAllowedProviders(config, row.override.dataRules?.allowedProviders, 'override.dataRules', report);
  const plan = tenant === undefined ? undefined : config.plans[tenant.plan];
  if (plan === undefined) return;
  const merged = mergeWith(plan.policy, row.override);
  if (Array.isArray(merged))
    for (const fault of merged) report(`override.${fault.path}`, `${fault.message} (together with plan ${plan.id})`);
  else checkEffective(config, row, merged, report);
}

/** What a workspace's chain comes to for its tenant: an entry that is never used would be a silent gap. */
function checkEffective(config: ConfigSnapshot, row: Workspace, policy: Policy, report: Report): void {
  const { routing, dataRules, priority } = policy;
  row.override.routing?.chain?.forEach((entry, i) => {
    const credential = config.providers[entry.provider]?.credentials.find(({ id }) => id === entry.credential);
    if (credential?.tenants !== undefined && !credential.tenants.includes(row.tenant)) {
      report(
        `override.routing.chain.${i}.credential`,
        `credential ${credential.id} of provider ${entry.provider} belongs to other tenants`,
      );
    }
  });
  if (row.override.routing !== undefined) checkModelRules(config, routing, 'override.routing', report);
  const { allowedProviders, regions } = dataRules;
  const known = routing.chain.filter(({ provider }) => Object.hasOwn(config.providers, provider));
  // What points at nothing is told already.
  if (
    known.length < routing.chain.length ||
    allowedProviders?.some((provider) => !Object.hasOwn(config.providers, provider)) === true
  )
    return;
  const allowed = known.filter(({ provider }) => allowedProviders?.includes(provider) ?? true);
  if (allowed.length === 0)
    report('override.dataRules.allowedProviders', 'allows no provider of the chain, so that nothing could be served');
  else if (!allowed.some(({ provider }) => regions?.includes(config.providers[provider]?.region ?? '') ?? true)) {
    report(
      'override.dataRules.regions',
      `no provider of the chain that is allowed is in one of these regions: ${regions?.join(', ')}`,
    );
  } else {
    // What points at nothing, or at others' accounts, is told already.
    const accounts = allowed.flatMap((entry) => accountsOf(config, entry, row.tenant));
    if (accounts.length > 0 && !accounts.some(({ tiers }) => tiers?.includes(priority) ?? true))
      report('override.priority', `no account of the chain takes calls of the tier ${priority} from this tenant`);
  }
}

/** Accounts that an entry of a chain may use for a tenant. */
function accountsOf(config: ConfigSnapshot, entry: ChainEntry, tenant: string): Credential[] {
  return (config.providers[entry.provider]?.credentials ?? []).filter(
    ({ id, tenants }) => (entry.credential ?? id) === id && (tenants?.includes(tenant) ?? true),
  );
}

type Merged = Policy | { path: string; message: string }[];

/** Rows that a change leaves alone are the same objects afterwards, so that each change merges only what it touches. */
const merges = new WeakMap<PolicyOverride, { readonly plan: Policy; readonly merged: Merged }>();

/** The policy of plan and override, or why they do not fit together. */
function mergeWith(plan: Policy, override: PolicyOverride): Merged {
  const known = merges.get(override);
  if (known?.plan === plan) return known.merged;
  const merged = mergeAnew(plan, override);
  merges.set(override, { plan, merged });
  return merged;
}

function mergeAnew(plan: Policy, override: PolicyOverride): Merged {
  try {
    return mergePolicy(plan, override);
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    return error.issues.map((issue) => ({ path: fieldPath(issue.path), message: issue.message }));
  }
}

function checkRouting(config: ConfigSnapshot, routing: Partial<Routing>, path: string, report: Report): void {
  const seen = new Map<string, number>();
  routing.chain?.forEach((entry, i) => {
    const at = `${path}.chain.${i}`;
    checkChainEntry(config, entry, at, report);
    const place = JSON.stringify([
      entry.provider,
      entry.model ?? null,
      entry.credential ?? onlyCredential(config, entry.provider) ?? null,
    ]);
    const first = seen.get(place);
    if (first === undefined) seen.set(place, i);
    else report(at, `is the same place as entry ${first}`);
  });
  for (const [alias, model] of Object.entries(routing.aliases ?? {})) {
    if (model !== AUTO_MODEL) need(config.models, model, 'model', `${path}.aliases.${alias}`, report);
  }
  for (const [feature, wish] of Object.entries(routing.features ?? {})) {
    if (wish.model !== undefined) need(config.models, wish.model, 'model', `${path}.features.${feature}.model`, report);
  }
  routing.allowModels?.forEach((model, i) => need(config.models, model, 'model', `${path}.allowModels.${i}`, report));
  if (routing.budgetDowngrade !== undefined)
    need(config.models, routing.budgetDowngrade.model, 'model', `${path}.budgetDowngrade.model`, report);
  if (routing.defaultModel !== undefined)
    need(config.models, routing.defaultModel, 'model', `${path}.defaultModel`, report);
}

/** Naming the only credential of a provider is naming the same place as leaving it out. */
function onlyCredential(config: ConfigSnapshot, provider: string): string | undefined {
  const credentials = config.providers[provider]?.credentials;
  return credentials?.length === 1 ? credentials[0]?.id : undefined;
}

function checkChainEntry(config: ConfigSnapshot, entry: ChainEntry, path: string, report: Report): void {
  const known = need(config.providers, entry.provider, 'provider', `${path}.provider`, report);
  if (entry.model !== undefined && need(config.models, entry.model, 'model', `${path}.model`, report)) {
    const offered = config.models[entry.model]?.offers.some((offer) => offer.provider === entry.provider);
    if (known && offered !== true)
      report(`${path}.model`, `provider ${entry.provider} does not offer model ${entry.model}`);
  }
  if (entry.credential === undefined || !known) return;
  const held = config.providers[entry.provider]?.credentials.some((credential) => credential.id === entry.credential);
  if (held !== true) report(`${path}.credential`, `provider ${entry.provider} has no credential ${entry.credential}`);
}

function checkAllowedProviders(
  config: ConfigSnapshot,
  allowed: readonly string[] | undefined,
  path: string,
  report: Report,
): void {
  allowed?.forEach((provider, i) =>
    need(config.providers, provider, 'provider', `${path}.allowedProviders.${i}`, report),
  );
}

function checkProvider(config: ConfigSnapshot, id: string, report: Report): void {
  const ids = new Set<string>();
  const provider = config.providers[id];
  if (provider !== undefined) {
    checkHealthProbe(config, provider, report);
    const { username, password } = new URL(provider.baseUrl);
    if (username !== '' || password !== '')
      report('baseUrl', 'must not hold a user or password; give a credential a secret instead');
  }
  provider?.credentials.forEach((credential, i) => {
    const at = `credentials.${i}`;
    if (ids.has(credential.id)) report(`${at}.id`, `credential ${credential.id} is there twice`);
    ids.add(credential.id);
    credential.tenants?.forEach((tenant, j) => need(config.tenants, tenant, 'tenant', `${at}.tenants.${j}`, report));
    if ((credential.reserved?.slots ?? 0) > credential.slots)
      report(`${at}.reserved.slots`, 'must not exceed the slots of the credential');
    const { tiers, reserved } = credential;
    if (tiers !== undefined && new Set(tiers).size < tiers.length) report(`${at}.tiers`, 'names a tier twice');
    if (reserved !== undefined && tiers?.every((tier) => PRIORITY_WEIGHT[tier] < PRIORITY_WEIGHT[reserved.priority]))
      report(`${at}.reserved.priority`, 'must be a tier whose calls the credential takes, or a lower one');
  });
}

function checkHealthProbe(config: ConfigSnapshot, { id, healthProbe, credentials }: Provider, report: Report): void {
  if (healthProbe === undefined) return;
  const { model } = healthProbe;
  if (
    need(config.models, model, 'model', 'healthProbe.model', report) &&
    config.models[model]?.offers.some((offer) => offer.provider === id) !== true
  ) {
    report('healthProbe.model', `provider ${id} does not offer model ${model}`);
  }
  if (credentials.every(({ tenants }) => tenants !== undefined))
    report('healthProbe', 'needs a credential that does not belong to single tenants');
}

function checkModel(config: ConfigSnapshot, id: string, report: Report): void {
  const model = config.models[id];
  if (id === AUTO_MODEL)
    report('id', `${AUTO_MODEL} is what callers name to let the learned policy choose; no model may have this name`);
  const providers = new Set<string>();
  model?.offers.forEach((offer, i) => {
    need(config.providers, offer.provider, 'provider', `offers.${i}.provider`, report);
    if (providers.has(offer.provider)) report(`offers.${i}.provider`, `provider ${offer.provider} is there twice`);
    providers.add(offer.provider);
  });
  const successor = model?.retirement?.successor;
  if (successor === undefined || !need(config.models, successor, 'model', 'retirement.successor', report)) return;
  const passed = new Set<string>();
  for (
    let next: string | undefined = successor;
    next !== undefined && !passed.has(next);
    next = config.models[next]?.retirement?.successor
  ) {
    passed.add(next);
    if (next === id) report('retirement.successor', `leads back to ${id}`);
  }
}

function checkKillSwitch(config: ConfigSnapshot, id: string, report: Report): void {
  const row = config.killSwitches[id];
  if (row === undefined) return;
  if (row.scope === 'all') {
    if (row.target !== undefined) report('target', 'must be absent when everything is switched off');
    return;
  }
  if (row.target === undefined) report('target', `must name the ${row.scope}`);
  else if (row.scope === 'provider') need(config.providers, row.target, 'provider', 'target', report);
  else if (row.scope === 'model') need(config.models, row.target, 'model', 'target', report);
  else if (row.scope === 'workspace') need(config.workspaces, row.target, 'workspace', 'target', report);
}
