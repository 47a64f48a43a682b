/**
 * Fields whose values an audit record shows. Whatever is not named here is not shown, so that a field that is added
 * to a schema tomorrow is hidden until somebody decides that it is no secret.
 */
export const SHOWN_FIELDS: ReadonlySet<string> = new Set(
  `
  id name slug uuid keyId displayName status version kind mode enabled scope target message reason scopes
  tenant tenants workspace plan cellId createdAt expiresAt effectiveFrom at from to
  timeZone limits requests tokens concurrency quotas perSecond perMinute burst inFlight queued queueTimeoutMs
  meter span seconds steps period limit alertAtPercent refuseAtPercent
  override policy priority maxPoolSharePercent routing chain provider model credential triggerOn aliases features allowModels learned
  defaultModel budgetDowngrade atPercent holdMs deadlines connectMs firstByteMs idleMs totalMs retries maxAttempts baseDelayMs maxDelayMs
  dataRules regions allowedProviders noFallback cache ttlSeconds maxEntryBytes serveStaleOnOutage maxBodyBytes defaultOutputTokens
  unknownPrice picoUsdPerToken acrossDialects quotaStatus stopMidStream promptLogDays auditExport
  tenantLimits priceBook prices allotment totalTokens feeNanoUsd overage overageCapNanoUsd capNanoUsd
  inputPicoUsd outputPicoUsd cacheReadPicoUsd cacheWritePicoUsd reasoningPicoUsd audioPicoUsd
  cacheWrite1hPicoUsd audioInputPicoUsd imageInputPicoUsd imageOutputPicoUsd longContext aboveInputTokens serviceTiers toolNanoUsd
  allowAddresses tags dialect baseUrl region credentials secret slots requestsPerMinute tokensPerMinute weight reserved tiers carryFields headers
  breaker failurePercent windowMs minimumCalls cooldownMs probes probeTimeoutMs silenceFailsAfterMs healthProbe intervalMs timeoutMs
  contextTokens maxOutputTokens abilities tier offers providerModel price releasedAt retirement successor retryAfterSeconds
  rps rate latency_ms retry_after_s after_chunks consumer broken gateway queue topic count kinds
  moved left refused native finished message_ids suppressed
  request_id corrects days cost_nanousd billed_nanousd event_id input cache_read cache_write output reasoning audio
  reasons key_ids addresses roles role step
  `
    .trim()
    .split(/\s+/),
);

/** Known fields that are never shown: they are secret, or prove one. */
export const HIDDEN_FIELDS: ReadonlySet<string> = new Set(['digest', 'ciphertext']);

/** Fields whose keys are free names, each with a value as of another field. */
export const NAMED_BY_USER: ReadonlySet<string> = new Set([
  'aliases',
  'features',
  'prices',
  'roles',
  'serviceTiers',
  'toolNanoUsd',
]);

/** Fields of free names with free values: the names are shown, the values are not. */
export const NAMES_ONLY: ReadonlySet<string> = new Set(['headers', 'tags']);
