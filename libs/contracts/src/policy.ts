import { z } from 'zod';
import { Name, PicoUsdPerToken } from './ids.ts';

const positive = z.int().min(1);
const milliseconds = z.int().min(1);

/** Requests in a unit of time; below the least one a bucket would not fill in a year. */
const rate = z.number().min(0.000_001).max(1_000_000_000);

/** A token bucket of requests. Give the rate per second or per minute, not both. */
export const RequestRate = z
  .strictObject({
    perSecond: rate.optional(),
    perMinute: rate.optional(),
    /** Bucket size, requests. */
    burst: positive,
  })
  .refine(
    (r) => (r.perSecond === undefined) !== (r.perMinute === undefined),
    'give exactly one of perSecond and perMinute',
  )
  .meta({ examples: [{ perSecond: 20, burst: 40 }] });
export type RequestRate = z.infer<typeof RequestRate>;

/**
 * A token bucket of model tokens; debited by estimate, trued up at settle, may go into debt. Burst defaults to one
 * minute's worth.
 */
export const TokenRate = z.strictObject({ perMinute: positive, burst: positive.optional() });
export type TokenRate = z.infer<typeof TokenRate>;

/** Bulkhead: requests that may be in flight, waiting ones included; of which waiting. */
export const Concurrency = z
  .strictObject({
    inFlight: positive,
    queued: z.int().min(0),
    /** How long one may wait for provider capacity before it is shed. */
    queueTimeoutMs: milliseconds.max(120_000).optional(),
  })
  .refine((c) => c.queued <= c.inFlight, {
    message: 'queued must not exceed inFlight, because waiting requests count as in flight',
    path: ['queued'],
  });
export type Concurrency = z.infer<typeof Concurrency>;

/** Zones that were asked for, so that a configuration of many tenants asks the runtime once for each. */
const knownZones = new Map<string, boolean>();
const MAX_KNOWN_ZONES = 1_000;

/**
 * True when the runtime knows the IANA time zone. UTC does without a question: the first one loads the zones, 10
 * MB.
 */
export function isTimeZone(name: string): boolean {
  if (name === 'UTC') return true;
  let known = knownZones.get(name);
  if (known === undefined) {
    try {
      new Intl.DateTimeFormat('en', { timeZone: name });
      known = true;
    } catch {
      known = false;
    }
    if (knownZones.size >= MAX_KNOWN_ZONES) knownZones.clear();
    knownZones.set(name, known);
  }
  return known;
}
export const TimeZone = z.string().min(1).refine(isTimeZone, 'must be an IANA time zone such as Europe/Berlin');

export const QuotaSpan = z.discriminatedUnion('kind', [
  /** Sliding, in `steps` sub-windows; it forgets one step at a time. */
  z.strictObject({
    kind: z.literal('rolling'),
    seconds: z
      .int()
      .min(12)
      .max(40 * 86_400),
    steps: z.int().min(12).max(288).default(12),
  }),
  /** Calendar day or month, in this zone or else the tenant's. */
  z.strictObject({ kind: z.literal('calendar'), period: z.enum(['day', 'month']), timeZone: TimeZone.optional() }),
]);
export type QuotaSpan = z.infer<typeof QuotaSpan>;

export const QuotaMeter = z.enum(['input_tokens', 'output_tokens', 'total_tokens', 'cost_nanousd']);
export type QuotaMeter = z.infer<typeof QuotaMeter>;

export const QuotaWindow = z
  .strictObject({
    /** Unique within its level; appears in refusals, headers and alerts. */
    id: Name,
    meter: QuotaMeter,
    span: QuotaSpan,
    /** Tokens or nanodollars per window. */
    limit: z.int().min(0),
    /** `hard` refuses at the limit, `soft` only warns. */
    mode: z.enum(['hard', 'soft']),
    alertAtPercent: z.array(z.int().min(1).max(100)).max(8).default([80, 100]),
    /** A hard window refuses from this share on, where a plan refuses before the end. */
    refuseAtPercent: z.int().min(1).max(100).optional(),
  })
  .refine((window) => window.mode === 'hard' || window.refuseAtPercent === undefined, {
    message: 'only a hard window refuses; leave refuseAtPercent out or set mode to hard',
    path: ['refuseAtPercent'],
  });
export type QuotaWindow = z.infer<typeof QuotaWindow>;

/** The limits of one level: tenant, workspace or key. What is absent does not limit. */
export const Limits = z.strictObject({
  requests: RequestRate.optional(),
  tokens: TokenRate.optional(),
  concurrency: Concurrency.optional(),
  quotas: z
    .array(QuotaWindow)
    .max(16)
    .refine((q) => new Set(q.map((w) => w.id)).size === q.length, 'quota ids must be unique within a level')
    .default([]),
});
export type Limits = z.infer<typeof Limits>;

export const LEVELS = ['tenant', 'workspace', 'key'] as const;
export type Level = (typeof LEVELS)[number];

export const PRIORITIES = ['critical', 'high', 'standard', 'low'] as const;
export const Priority = z.enum(PRIORITIES);
export type Priority = z.infer<typeof Priority>;
/** Weights of the fair queue. */
export const PRIORITY_WEIGHT: Record<Priority, number> = { critical: 8, high: 4, standard: 2, low: 1 };

export const FailoverTrigger = z.enum(['rate_limit', 'timeout', 'error', 'context_window']);
export type FailoverTrigger = z.infer<typeof FailoverTrigger>;

/** One place that may serve a request, in order of preference. */
export const ChainEntry = z.strictObject({
  provider: Name,
  /** Catalogue model to use there instead of the one that was asked for. */
  model: Name.optional(),
  /** Only this credential of the provider. */
  credential: Name.optional(),
  /** Reasons to go on to the next entry; the policy's when absent. */
  triggerOn: z.array(FailoverTrigger).min(1).optional(),
});
export type ChainEntry = z.infer<typeof ChainEntry>;

/**
 * What a caller, or an alias, names instead of a model to let the learned policy choose among the models that may
 * answer.
 */
export const AUTO_MODEL = 'auto';

export const Routing = z.strictObject({
  chain: z.array(ChainEntry).min(1).max(8),
  triggerOn: z.array(FailoverTrigger).default(['rate_limit', 'timeout', 'error']),
  /** Customer's name for a model → catalogue model, or `auto`. */
  aliases: z.record(z.string().min(1).max(256), Name).default({}),
  /** Feature tag → catalogue model to prefer for it. */
  features: z
    .record(z.string().min(1).max(128), z.strictObject({ model: Name.optional(), priority: Priority.optional() }))
    .default({}),
  /** Models that may be used; all of the catalogue when absent. */
  allowModels: z.array(Name).optional(),
  /**
   * `auto` always asks the learned policy. With `true` so does every request that names a model of the catalogue
   * without pinning it; the model that it names then answers while the policy cannot be asked.
   */
  learned: z.boolean().default(false),
  /**
   * Model of an `auto` request while the learned policy cannot be asked; the usable one of the highest tier when
   * absent.
   */
  defaultModel: Name.optional(),
  /**
   * From this share of a money quota on use this model instead where it is cheaper, marked in the answer; never for
   * a pin.
   */
  budgetDowngrade: z.strictObject({ atPercent: z.int().min(1).max(100), model: Name }).optional(),
  /** Status and headers are held for the first content at most this long. */
  holdMs: z.int().min(0).max(8_000).default(8_000),
});
export type Routing = z.infer<typeof Routing>;

export const Deadlines = z.strictObject({
  connectMs: milliseconds.max(60_000).default(5_000),
  firstByteMs: milliseconds.max(600_000).default(60_000),
  idleMs: milliseconds.max(600_000).default(60_000),
  totalMs: milliseconds.max(3_600_000).default(600_000),
});
export type Deadlines = z.infer<typeof Deadlines>;

export const Retries = z.strictObject({
  maxAttempts: z.int().min(1).max(3).default(3),
  baseDelayMs: z.int().min(1).max(10_000).default(200),
  maxDelayMs: z.int().min(1).max(60_000).default(5_000),
});
export type Retries = z.infer<typeof Retries>;

export const DataRules = z.strictObject({
  regions: z.array(z.string().min(1)).min(1).optional(),
  allowedProviders: z.array(Name).min(1).optional(),
  /** Contracts that forbid a fallback: only the first entry of the chain is ever used. */
  noFallback: z.boolean().default(false),
});
export type DataRules = z.infer<typeof DataRules>;

export const ResponseCache = z.strictObject({
  mode: z.enum(['off', 'exact']).default('off'),
  ttlSeconds: z
    .int()
    .min(1)
    .max(30 * 86_400)
    .default(300),
  maxEntryBytes: z
    .int()
    .min(1)
    .max(8 * 1024 * 1024)
    .default(256 * 1024),
  serveStaleOnOutage: z.boolean().default(false),
});
export type ResponseCache = z.infer<typeof ResponseCache>;

/** What to do with a call whose price is not in the catalogue. Never silently free. */
export const UnknownPrice = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('refuse') }),
  z.strictObject({ mode: z.literal('charge'), picoUsdPerToken: PicoUsdPerToken.min(1) }),
]);
export type UnknownPrice = z.infer<typeof UnknownPrice>;

/**
 * The whole policy of a workspace as a gateway enforces it. Limits stand at three levels: the tenant's own
 * (`Tenant.limits`, spanning its workspaces), the workspace's (`limits` here), and each key's (`ApiKeyRecord.limits`).
 * The tightest decides and the refusal names it.
 */
export const Policy = z.strictObject({
  limits: Limits,
  priority: Priority.default('standard'),
  /** Largest share of a provider pool's slots that this tenant may hold at once, percent. */
  maxPoolSharePercent: z.int().min(1).max(100).default(50),
  routing: Routing,
  deadlines: Deadlines.default(Deadlines.parse({})),
  retries: Retries.default(Retries.parse({})),
  dataRules: DataRules.default(DataRules.parse({})),
  cache: ResponseCache.default(ResponseCache.parse({})),
  /** Bytes of a request body; 10 MiB unless told, at most 32 MiB. */
  maxBodyBytes: z
    .int()
    .min(1024)
    .max(32 * 1024 * 1024)
    .default(10 * 1024 * 1024),
  /** Output expected of a request that does not bound it, until the estimator knows better. Tokens. */
  defaultOutputTokens: z.int().min(1).max(1_000_000).default(256),
  unknownPrice: UnknownPrice.default({ mode: 'refuse' }),
  /**
   * What a provider of another dialect has no word for: refused before anything is reserved, or left out and named in a
   * header.
   */
  acrossDialects: z.enum(['refuse', 'drop']).default('refuse'),
  /** 429 for clients that look for it. */
  quotaStatus: z.union([z.literal(402), z.literal(429)]).default(402),
  /** Cut a stream with a correct ending when a hard quota runs out in its middle. */
  stopMidStream: z.boolean().default(false),
  /** Keep prompts, redacted, for this many days; 0 keeps none. */
  promptLogDays: z.int().min(0).max(90).default(0),
  /** Audit export to a queue of the tenant's own. */
  auditExport: z.boolean().default(false),
});
export type Policy = z.infer<typeof Policy>;

/** The shape of an override: every field optional and without its default, so that what is absent stays the plan's. */
type OverrideShape<S extends z.ZodRawShape> = {
  [K in keyof S]: z.ZodOptional<S[K] extends z.ZodDefault<infer Inner> ? Inner : S[K]>;
};

function overrideOf<S extends z.ZodRawShape>(schema: z.ZodObject<S>): z.ZodObject<OverrideShape<S>, z.core.$strict> {
  const fields = Object.entries(schema.shape).map(([name, field]) => [
    name,
    z.optional(field instanceof z.ZodDefault ? field.unwrap() : field),
  ]);
  return z.strictObject(Object.fromEntries(fields) as OverrideShape<S>);
}

/**
 * Single fields of a plan's policy that a workspace overrides, by top-level field; `limits`, `routing`, `deadlines`,
 * `retries`, `dataRules` and `cache` are merged one level deep.
 */
export const PolicyOverride = z.strictObject({
  ...overrideOf(
    Policy.omit({ limits: true, routing: true, deadlines: true, retries: true, dataRules: true, cache: true }),
  ).shape,
  limits: overrideOf(Limits).optional(),
  routing: overrideOf(Routing).optional(),
  deadlines: overrideOf(Deadlines).optional(),
  retries: overrideOf(Retries).optional(),
  dataRules: overrideOf(DataRules).optional(),
  cache: overrideOf(ResponseCache).optional(),
});
export type PolicyOverride = z.infer<typeof PolicyOverride>;
