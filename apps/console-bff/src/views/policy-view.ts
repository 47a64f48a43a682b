import type { CustomerOverride, CustomerPolicy, PolicyView, QuotaWindow } from '@sluice/contracts';

/*
 * A policy is a document of many optional fields. `fields` copies those it is told to, one by one, and leaves out what is absent; groups are
 * built by a function of their own, so that nothing is copied as a whole at any level.
 */

type Copy = (value: never) => unknown;
const plain: Copy = (value: unknown) => value;

function fields(from: unknown, shape: Readonly<Record<string, Copy>>): Record<string, unknown> {
  const source = (from ?? {}) as Record<string, unknown>;
  const out: Record<string, unknown> = {};
  for (const [name, copy] of Object.entries(shape)) {
    const value = source[name];
    if (value !== undefined && value !== null) out[name] = copy(value as never);
  }
  return out;
}

const group =
  (shape: Readonly<Record<string, Copy>>): Copy =>
  (value: unknown) =>
    fields(value, shape);
const list =
  (copy: Copy): Copy =>
  (values: readonly unknown[]) =>
    values.map((value) => copy(value as never));
/** By names of the customer's own choice. */
const named =
  (copy: Copy, is: (value: unknown) => boolean): Copy =>
  (values: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      Object.entries(values).flatMap(([name, value]) => (is(value) ? [[name, copy(value as never)]] : [])),
    );
const isText = (value: unknown): boolean => typeof value === 'string';
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

const quota = group({
  id: plain,
  meter: plain,
  span: (span: QuotaWindow['span']) =>
    span.kind === 'rolling'
      ? fields(span, { kind: plain, seconds: plain, steps: plain })
      : fields(span, { kind: plain, period: plain, timeZone: plain }),
  limit: plain,
  mode: plain,
  alertAtPercent: list(plain),
  refuseAtPercent: plain,
});

const POLICY: Readonly<Record<string, Copy>> = {
  limits: group({
    requests: group({ perSecond: plain, perMinute: plain, burst: plain }),
    tokens: group({ perMinute: plain, burst: plain }),
    concurrency: group({ inFlight: plain, queued: plain, queueTimeoutMs: plain }),
    quotas: list(quota),
  }),
  priority: plain,
  routing: group({
    chain: list(group({ provider: plain, model: plain, triggerOn: list(plain) })),
    triggerOn: list(plain),
    aliases: named(plain, isText),
    features: named(group({ model: plain, priority: plain }), isObject),
    allowModels: list(plain),
    learned: plain,
    defaultModel: plain,
    budgetDowngrade: group({ atPercent: plain, model: plain }),
    holdMs: plain,
  }),
  deadlines: group({ connectMs: plain, firstByteMs: plain, idleMs: plain, totalMs: plain }),
  retries: group({ maxAttempts: plain, baseDelayMs: plain, maxDelayMs: plain }),
  dataRules: group({ regions: list(plain), allowedProviders: list(plain), noFallback: plain }),
  cache: group({ mode: plain, ttlSeconds: plain, maxEntryBytes: plain, serveStaleOnOutage: plain }),
  maxBodyBytes: plain,
  defaultOutputTokens: plain,
  unknownPrice: group({ mode: plain, picoUsdPerToken: plain }),
  acrossDialects: plain,
  quotaStatus: plain,
  stopMidStream: plain,
  promptLogDays: plain,
  auditExport: plain,
};

export function projectOverride(from: CustomerOverride): CustomerOverride {
  return fields(from, POLICY) as CustomerOverride;
}

export function projectPolicy(from: PolicyView): PolicyView {
  return {
    workspace: from.workspace,
    version: from.version,
    override: projectOverride(from.override),
    effective: fields(from.effective, POLICY) as CustomerPolicy,
    plan: { id: from.plan.id, policy: fields(from.plan.policy, POLICY) as CustomerPolicy },
    fields: from.fields.map((f) => ({
      path: f.path,
      source: f.source,
      rule: f.rule,
      editable: f.editable,
      note: f.note,
    })),
  };
}
