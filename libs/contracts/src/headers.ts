/** Names of the headers that are contracts with callers. All lower case. */
export const HEADER = {
  requestId: 'x-request-id',
  anthropicRequestId: 'request-id',
  clientRequestId: 'x-client-request-id',
  refusal: 'x-sluice-refusal',
  refusedBy: 'x-sluice-refused-by',
  provider: 'x-sluice-provider',
  model: 'x-sluice-model',
  fallback: 'x-sluice-fallback',
  fallbackReason: 'x-sluice-fallback-reason',
  attempts: 'x-sluice-attempts',
  cache: 'x-sluice-cache',
  quotaRemainingTokens: 'x-sluice-quota-remaining-tokens',
  quotaWarning: 'x-sluice-quota-warning',
  overheadUs: 'x-sluice-overhead-us',
  queueMs: 'x-sluice-queue-ms',
  decision: 'x-sluice-decision',
  /** `budget` when a cheaper model was taken near the end of a money quota. */
  downgrade: 'x-sluice-downgrade',
  /** Paths of request fields that the provider's dialect had no place for, joined by commas. */
  dropped: 'x-sluice-dropped',
  costNanoUsd: 'x-sluice-cost-nanousd',
  costUsd: 'x-sluice-cost-usd',
  /** `estimate` on a count of tokens that no provider made. */
  tokenCount: 'x-sluice-token-count',
  usageEvent: 'x-sluice-usage-event',
  feature: 'x-sluice-feature',
  tags: 'x-sluice-tags',
  timeoutMs: 'x-sluice-timeout-ms',
  actWorkspace: 'x-sluice-act-workspace',
  retryAfter: 'retry-after',
  retryAfterMs: 'retry-after-ms',
  shouldRetry: 'x-should-retry',
  /** Given to every upstream: the workspace's immutable UUID. A caller's own copy is stripped. */
  tenantMarker: 'x-sluice-tenant',
} as const;

export const RATE_HEADERS = [
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-tokens',
] as const;

export const ANTHROPIC_RATE_HEADERS = [
  'anthropic-ratelimit-requests-limit',
  'anthropic-ratelimit-requests-remaining',
  'anthropic-ratelimit-requests-reset',
  'anthropic-ratelimit-tokens-limit',
  'anthropic-ratelimit-tokens-remaining',
  'anthropic-ratelimit-tokens-reset',
  'anthropic-ratelimit-input-tokens-limit',
  'anthropic-ratelimit-input-tokens-remaining',
  'anthropic-ratelimit-input-tokens-reset',
  'anthropic-ratelimit-output-tokens-limit',
  'anthropic-ratelimit-output-tokens-remaining',
  'anthropic-ratelimit-output-tokens-reset',
] as const;

/** Every header of ours that a browser may read across origins. */
export const EXPOSED_HEADERS: readonly string[] = [
  ...Object.values(HEADER).filter((name) => name !== HEADER.tenantMarker && name !== HEADER.actWorkspace),
  ...RATE_HEADERS,
  ...ANTHROPIC_RATE_HEADERS,
];
