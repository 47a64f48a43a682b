import { z } from 'zod';
import { Instant, Name, NanoUsd, PicoUsdPerToken } from './ids.ts';
import { Priority } from './policy.ts';
import { HeaderName, HeaderValue } from './storable.ts';

/** Classes without a price of their own cost what their parent class costs. */
const rates = {
  inputPicoUsd: PicoUsdPerToken,
  outputPicoUsd: PicoUsdPerToken,
  /** Parent: input. */
  cacheReadPicoUsd: PicoUsdPerToken.optional(),
  /** Of the shortest lifetime. Parent: input. */
  cacheWritePicoUsd: PicoUsdPerToken.optional(),
  /** Of writes that are kept for an hour. Parent: cache writes. */
  cacheWrite1hPicoUsd: PicoUsdPerToken.optional(),
  /** Parent: output. */
  reasoningPicoUsd: PicoUsdPerToken.optional(),
  /** Spoken, and heard where that has no price of its own. Parent: output. */
  audioPicoUsd: PicoUsdPerToken.optional(),
  /** Parent: audio. */
  audioInputPicoUsd: PicoUsdPerToken.optional(),
  /** Parent: input. */
  imageInputPicoUsd: PicoUsdPerToken.optional(),
  /** Parent: output. */
  imageOutputPicoUsd: PicoUsdPerToken.optional(),
};

/** What the whole of a call costs whose input, cached tokens too, is longer than a threshold. */
const LongContextPrice = z.strictObject({ aboveInputTokens: z.int().min(1), ...rates });
const longContext = z
  .array(LongContextPrice)
  .min(1)
  .max(8)
  .refine((steps) => new Set(steps.map((step) => step.aboveInputTokens)).size === steps.length, {
    message: 'each aboveInputTokens may stand once',
  })
  .optional();

/** Prices of a model that is served in another than the standard way. */
export const TierPrice = z.strictObject({ ...rates, longContext });
export type TierPrice = z.infer<typeof TierPrice>;

/** As providers name it: `priority`, `flex`, `batch`, `fast`; several joined by `+`. */
const TierName = z
  .string()
  .regex(/^[A-Za-z0-9_.+-]{1,64}$/, "must be the provider's word for the tier, such as priority");
const ToolName = z.string().regex(/^[a-z0-9_]{1,64}$/, 'must be the name of a tool, such as web_search');

/** Prices of one model, picodollars per token, and what its tools cost for each use, nanodollars. */
export const Price = z.strictObject({
  ...rates,
  longContext,
  serviceTiers: z.record(TierName, TierPrice).optional(),
  toolNanoUsd: z.record(ToolName, NanoUsd).optional(),
});
export type Price = z.infer<typeof Price>;

export const ProviderDialect = z.enum(['openai', 'anthropic', 'bedrock', 'azure-openai', 'gemini', 'ollama']);
export type ProviderDialect = z.infer<typeof ProviderDialect>;

/** Where a secret is: never the secret itself. */
export const SecretRef = z.discriminatedUnion('kind', [
  /** An environment variable of the gateway; the name starts with `SLUICE_SECRET_`. */
  z.strictObject({
    kind: z.literal('env'),
    name: z.string().regex(/^SLUICE_SECRET_[A-Z0-9_]+$/, 'must start with SLUICE_SECRET_'),
  }),
  /** A file name below the declared secrets folder; no slashes. */
  z.strictObject({ kind: z.literal('file'), name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/) }),
  /** AES-256-GCM under the stack's data key, base64. */
  z.strictObject({ kind: z.literal('encrypted'), ciphertext: z.base64() }),
]);
export type SecretRef = z.infer<typeof SecretRef>;

/** One account at a provider, with its own capacity. */
export const Credential = z.strictObject({
  id: Name,
  secret: SecretRef.optional(),
  /** Calls at once. */
  slots: z.int().min(1).max(100_000),
  requestsPerMinute: z.int().min(1).optional(),
  tokensPerMinute: z.int().min(1).optional(),
  weight: z.int().min(0).max(1000).default(1),
  /** Only for these tenants, or all. */
  tenants: z.array(Name).min(1).optional(),
  /** Only for calls of these priorities, or all: a pool of its own for each tier. */
  tiers: z.array(Priority).min(1).optional(),
  /** So many slots are always left for calls of at least this priority; those that they hold count as left. */
  reserved: z.strictObject({ priority: z.enum(['critical', 'high', 'standard']), slots: z.int().min(1) }).optional(),
});
export type Credential = z.infer<typeof Credential>;

/** True for a URL behind which a path can be put. */
function isPlainBase(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && !/[?#]/.test(text) && url.username === '' && url.password === '';
}

export const Provider = z.strictObject({
  id: Name,
  displayName: z.string().min(1).max(100),
  dialect: ProviderDialect,
  /** For OpenAI-compatible ones up to and including `/v1`; for Anthropic without it. */
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .refine(
      isPlainBase,
      'must have no query, no fragment and no credentials: paths are put behind it, and secrets belong into a credential',
    ),
  region: z.string().min(1).max(64).default('local'),
  credentials: z.array(Credential).min(1).max(64),
  /** Body fields that travel on across dialects although the target does not know them. */
  carryFields: z.array(z.string().min(1)).default([]),
  /** Extra headers, not secret. */
  headers: z.record(HeaderName, HeaderValue).default({}),
  breaker: z
    .strictObject({
      failurePercent: z.int().min(1).max(100).default(20),
      windowMs: z.int().min(1000).max(600_000).default(30_000),
      minimumCalls: z.int().min(1).max(10_000).default(20),
      cooldownMs: z.int().min(100).max(600_000).default(10_000),
      probes: z.int().min(1).max(100).default(3),
      probeTimeoutMs: z.int().min(100).max(600_000).default(60_000),
      /**
       * Silence before the first byte or between two bytes counts as a failure from this length on. A workspace
       * whose own deadline is shorter gives up sooner, and its timeouts say nothing about the provider.
       */
      silenceFailsAfterMs: z.int().min(100).max(600_000).default(60_000),
    })
    .prefault({}),
  /** Small calls of the gateway's own that find out whether the provider works, on nobody's bill; none when absent. */
  healthProbe: z
    .strictObject({
      /** Catalogue model to ask; the provider must offer it. */
      model: Name,
      intervalMs: z.int().min(1_000).max(3_600_000).default(15_000),
      timeoutMs: z.int().min(100).max(60_000).default(5_000),
    })
    .refine((probe) => probe.timeoutMs <= probe.intervalMs, {
      message: 'timeoutMs must not exceed intervalMs: one probe at a time',
      path: ['timeoutMs'],
    })
    .optional(),
  enabled: z.boolean().default(true),
});
export type Provider = z.infer<typeof Provider>;

export const ModelAbility = z.enum(['chat', 'embeddings', 'tools', 'images', 'json', 'reasoning', 'audio']);
export type ModelAbility = z.infer<typeof ModelAbility>;

/** A catalogue entry: what customers ask for, and what it is called and costs at each provider that has it. */
export const Model = z.strictObject({
  id: Name,
  displayName: z.string().min(1).max(100),
  /** When it came out; customers' lists show the start of their price book where it is not given. */
  releasedAt: Instant.optional(),
  contextTokens: z.int().min(1),
  maxOutputTokens: z.int().min(1),
  abilities: z.array(ModelAbility).min(1),
  /** Quality tier, 0 the smallest; a hint for routing. */
  tier: z.int().min(0).max(10).default(0),
  offers: z
    .array(
      z.strictObject({
        provider: Name,
        /** The provider's own name, sent byte for byte. */
        providerModel: z.string().min(1).max(256),
        /** What the provider charges us; absent means unknown. */
        price: Price.optional(),
      }),
    )
    .min(1),
  retirement: z.strictObject({ at: Instant, successor: Name.optional() }).optional(),
});
export type Model = z.infer<typeof Model>;

/** What customers of a plan are billed, by model. Immutable per version. */
export const PriceBook = z.strictObject({
  version: z.int().min(1),
  effectiveFrom: Instant,
  prices: z.record(Name, Price),
});
export type PriceBook = z.infer<typeof PriceBook>;

/** Stops a part of the service by hand, with a message that customers read. */
export const KillSwitch = z.strictObject({
  id: Name,
  scope: z.enum(['provider', 'model', 'feature', 'workspace', 'all']),
  /** Id of the provider, model or workspace, or the feature tag; absent for `all`. */
  target: z.string().min(1).max(256).optional(),
  message: z.string().min(1).max(500),
  retryAfterSeconds: z.int().min(1).max(86_400).default(60),
});
export type KillSwitch = z.infer<typeof KillSwitch>;
