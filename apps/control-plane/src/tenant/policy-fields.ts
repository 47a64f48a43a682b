import type { CustomerOverride, Policy, PolicyFieldRule, Priority } from '@sluice/contracts';
import { PRIORITY_WEIGHT } from '@sluice/contracts';

/** One field of a policy as customers see it. */
export interface PolicyField {
  /** Top-level field, or field within a group, such as `limits.requests`. */
  readonly path: string;
  readonly rule: PolicyFieldRule;
  /** In words, for the editor. */
  readonly note?: string;
  /** For `stricter`: what is wrong with a value that the plan does not give; undefined when it is stricter or equal. */
  readonly check?: (value: unknown, plan: Policy) => string | undefined;
}

const atMost = (path: string, unit: string): PolicyField => ({
  path,
  rule: 'stricter',
  note: 'At most what the plan gives.',
  check: (value, plan) =>
    Number(value) <= Number(valueAt(plan, path))
      ? undefined
      : `must be at most ${String(valueAt(plan, path))} ${unit}, which is what the plan gives`,
});
const free = (path: string): PolicyField => ({ path, rule: 'free' });
const fixed = (path: string, note: string): PolicyField => ({ path, rule: 'fixed', note });

const NOT_OFFERED = 'Not offered yet.';
const perMinute = (rate: { perSecond?: number | undefined; perMinute?: number | undefined }): number =>
  rate.perMinute ?? (rate.perSecond ?? 0) * 60;
const within = (
  values: readonly string[] | undefined,
  allowed: readonly string[] | undefined,
  what: string,
): string | undefined => {
  const beyond = allowed === undefined ? undefined : values?.find((value) => !allowed.includes(value));
  return beyond === undefined ? undefined : `${beyond} is not among the ${what} of the plan`;
};

/** Every field of a policy that customers see; what is not listed here is neither shown nor taken. */
export const POLICY_FIELDS: readonly PolicyField[] = [
  {
    path: 'limits.requests',
    rule: 'stricter',
    note: 'At most the rate and burst of the plan.',
    check: (value, { limits }) => {
      const wanted = value as NonNullable<Policy['limits']['requests']>;
      const given = limits.requests;
      return given === undefined || (perMinute(wanted) <= perMinute(given) && wanted.burst <= given.burst)
        ? undefined
        : `must be at most ${perMinute(given) / 60} a second with a burst of ${given.burst}, which is what the plan gives`;
    },
  },
  {
    path: 'limits.tokens',
    rule: 'stricter',
    note: 'At most the tokens a minute of the plan.',
    check: (value, { limits }) => {
      const wanted = value as NonNullable<Policy['limits']['tokens']>;
      const given = limits.tokens;
      return given === undefined ||
        (wanted.perMinute <= given.perMinute && (wanted.burst ?? wanted.perMinute) <= (given.burst ?? given.perMinute))
        ? undefined
        : `must be at most ${given.perMinute} a minute, which is what the plan gives`;
    },
  },
  {
    path: 'limits.concurrency',
    rule: 'stricter',
    note: 'At most as many in flight and queued as the plan gives.',
    check: (value, { limits }) => {
      const wanted = value as NonNullable<Policy['limits']['concurrency']>;
      const given = limits.concurrency;
      return given === undefined || (wanted.inFlight <= given.inFlight && wanted.queued <= given.queued)
        ? undefined
        : `must be at most ${given.inFlight} in flight and ${given.queued} queued, which is what the plan gives`;
    },
  },
  {
    path: 'limits.quotas',
    rule: 'stricter',
    note: 'Windows of the plan may be lowered and made hard; more may be added.',
    check: (value, { limits }) => {
      const wanted = value as Policy['limits']['quotas'];
      for (const given of limits.quotas) {
        const own = wanted.find(({ id }) => id === given.id);
        if (own === undefined) return `must keep the window ${given.id} of the plan`;
        const same = own.meter === given.meter && JSON.stringify(own.span) === JSON.stringify(given.span);
        if (!same || own.limit > given.limit || (given.mode === 'hard' && own.mode === 'soft'))
          return `must not loosen the window ${given.id} of the plan (${given.limit}, ${given.mode})`;
        const refuseAt = (given.limit * (given.refuseAtPercent ?? 100)) / 100;
        if ((own.limit * (own.refuseAtPercent ?? 100)) / 100 > refuseAt)
          return `must refuse in the window ${given.id} at ${refuseAt} or before, as the plan does`;
      }
      return undefined;
    },
  },
  fixed('priority', 'Set by the plan.'),
  {
    path: 'routing.chain',
    rule: 'stricter',
    note: 'Providers of the plan, in any order, fewer if you like.',
    check: (value, { routing }) =>
      within(
        (value as { provider: string }[]).map(({ provider }) => provider),
        routing.chain.map(({ provider }) => provider),
        'providers',
      ),
  },
  free('routing.triggerOn'),
  free('routing.aliases'),
  {
    path: 'routing.features',
    rule: 'stricter',
    note: 'No feature may have a higher priority than the plan gives.',
    check: (value, plan) => {
      const features = Object.entries(value as Policy['routing']['features']);
      const weight = (priority: Priority | undefined): number =>
        priority === undefined ? 0 : PRIORITY_WEIGHT[priority];
      const high = features.find(([, feature]) => weight(feature.priority) > PRIORITY_WEIGHT[plan.priority]);
      return high === undefined ? undefined : `${high[0]} must not have a higher priority than ${plan.priority}`;
    },
  },
  {
    path: 'routing.allowModels',
    rule: 'stricter',
    note: 'Models that the plan allows.',
    check: (value, { routing }) => within(value as string[], routing.allowModels, 'models'),
  },
  free('routing.learned'),
  free('routing.defaultModel'),
  free('routing.budgetDowngrade'),
  free('routing.holdMs'),
  atMost('deadlines.connectMs', 'ms'),
  atMost('deadlines.firstByteMs', 'ms'),
  atMost('deadlines.idleMs', 'ms'),
  atMost('deadlines.totalMs', 'ms'),
  atMost('retries.maxAttempts', 'attempts'),
  free('retries.baseDelayMs'),
  free('retries.maxDelayMs'),
  {
    path: 'dataRules.regions',
    rule: 'stricter',
    note: 'Regions that the plan allows.',
    check: (value, { dataRules }) => within(value as string[], dataRules.regions, 'regions'),
  },
  {
    path: 'dataRules.allowedProviders',
    rule: 'stricter',
    note: 'Providers that the plan allows.',
    check: (value, { dataRules }) => within(value as string[], dataRules.allowedProviders, 'providers'),
  },
  {
    path: 'dataRules.noFallback',
    rule: 'stricter',
    note: 'May be turned on.',
    check: (value, { dataRules }) =>
      value === false && dataRules.noFallback ? 'must stay on, because the plan forbids fallbacks' : undefined,
  },
  fixed('cache.mode', NOT_OFFERED),
  fixed('cache.ttlSeconds', NOT_OFFERED),
  fixed('cache.maxEntryBytes', NOT_OFFERED),
  fixed('cache.serveStaleOnOutage', NOT_OFFERED),
  atMost('maxBodyBytes', 'bytes'),
  free('defaultOutputTokens'),
  fixed('unknownPrice', 'Set by the plan.'),
  free('acrossDialects'),
  free('quotaStatus'),
  free('stopMidStream'),
  fixed('promptLogDays', NOT_OFFERED),
  fixed('auditExport', 'Set by the plan.'),
];

/** The value at a path of at most two names; undefined where there is none. */
export function valueAt(document: object, path: string): unknown {
  const [head = '', field] = path.split('.');
  const top = (document as Record<string, unknown>)[head];
  if (field === undefined) return top;
  return typeof top === 'object' && top !== null ? (top as Record<string, unknown>)[field] : undefined;
}

/** A document with only the fields of the list that the source has. */
export function pickFields(source: object, paths: readonly string[]): CustomerOverride {
  const out: Record<string, unknown> = {};
  for (const path of paths) {
    const value = valueAt(source, path);
    if (value !== undefined) setAt(out, path, value);
  }
  return out as CustomerOverride;
}

export function setAt(target: Record<string, unknown>, path: string, value: unknown): void {
  const [head = '', field] = path.split('.');
  if (field === undefined) target[head] = value;
  else target[head] = { ...(target[head] as object | undefined), [field]: value };
}
