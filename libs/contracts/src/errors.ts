import type { Outcome } from './outcomes.ts';

/** The wire dialect of a route; it decides the shape of errors and of rate headers. */
export type Dialect = 'openai' | 'anthropic';

/** One entry of the catalogue: everything that a refusal or fault says in public. */
export interface ErrorEntry {
  /** How the call is counted when it ends with this error. */
  readonly outcome: Outcome;
  /** HTTP status by dialect of the route. */
  readonly status: { readonly openai: number; readonly anthropic: number };
  /** `type` of the OpenAI body. */
  readonly openaiType: string;
  /** `code` of the OpenAI body. */
  readonly openaiCode: string;
  /** `error.type` of the Anthropic body. */
  readonly anthropicType: string;
  /** What the caller reads when the site that refuses gives no more exact text. */
  readonly publicText: string;
  /** Whether the same request may succeed later without a change. */
  readonly retryable: boolean;
}

function entry(
  outcome: Outcome,
  openaiStatus: number,
  openaiType: string,
  openaiCode: string,
  anthropicStatus: number,
  anthropicType: string,
  retryable: boolean,
  publicText: string,
): ErrorEntry {
  return {
    outcome,
    status: { openai: openaiStatus, anthropic: anthropicStatus },
    openaiType,
    openaiCode,
    anthropicType,
    retryable,
    publicText,
  };
}

const INVALID = 'invalid_request_error';

/**
 * The one catalogue of refusals and faults of the data plane. The key is our own word and stands in
 * `x-sluice-refusal`; nothing else decides a status.
 */
export const ERROR_CATALOGUE = {
  unauthenticated: entry(
    'unauthenticated',
    401,
    INVALID,
    'invalid_api_key',
    401,
    'authentication_error',
    false,
    'No valid API key was given. Send `Authorization: Bearer sk-sluice-…` or `x-api-key: sk-sluice-…`.',
  ),
  address_not_allowed: entry(
    'client_error',
    403,
    INVALID,
    'address_not_allowed',
    403,
    'permission_error',
    false,
    'This API key may not be used from this network address.',
  ),
  act_workspace_refused: entry(
    'client_error',
    403,
    INVALID,
    'act_workspace_refused',
    403,
    'permission_error',
    false,
    'An API key cannot act in another workspace; remove the x-sluice-act-workspace header.',
  ),
  workspace_unknown: entry(
    'client_error',
    421,
    INVALID,
    'workspace_unknown',
    421,
    'not_found_error',
    false,
    'The host name does not name a workspace that this key belongs to.',
  ),
  wrong_cell: entry(
    'client_error',
    421,
    INVALID,
    'wrong_cell',
    421,
    'not_found_error',
    false,
    'This workspace is served by another cell; use the host name of that cell.',
  ),
  body_too_large: entry(
    'client_error',
    413,
    INVALID,
    'request_too_large',
    413,
    'request_too_large',
    false,
    'The request body is larger than this workspace allows.',
  ),
  headers_too_large: entry(
    'client_error',
    431,
    INVALID,
    'headers_too_large',
    431,
    INVALID,
    false,
    'The request headers are larger than 32 KiB.',
  ),
  bad_request: entry(
    'client_error',
    400,
    INVALID,
    'bad_request',
    400,
    INVALID,
    false,
    'The request could not be understood.',
  ),
  invalid_json: entry(
    'client_error',
    400,
    INVALID,
    'invalid_json',
    400,
    INVALID,
    false,
    'The request body is not valid JSON.',
  ),
  duplicate_key: entry(
    'client_error',
    400,
    INVALID,
    'duplicate_key',
    400,
    INVALID,
    false,
    'The request body names the same top-level field twice.',
  ),
  invalid_value: entry(
    'client_error',
    400,
    INVALID,
    'invalid_value',
    400,
    INVALID,
    false,
    'A field of the request has a value that is not allowed.',
  ),
  duplicate_header: entry(
    'client_error',
    400,
    INVALID,
    'duplicate_header',
    400,
    INVALID,
    false,
    'A header that may be sent once was sent more than once.',
  ),
  unsupported_field: entry(
    'client_error',
    400,
    INVALID,
    'unsupported_field',
    400,
    INVALID,
    false,
    'A field of the request cannot be carried to the provider that serves this model.',
  ),
  unsupported_encoding: entry(
    'client_error',
    415,
    INVALID,
    'unsupported_encoding',
    415,
    INVALID,
    false,
    'The request body must be uncompressed JSON.',
  ),
  request_timeout: entry(
    'client_error',
    408,
    INVALID,
    'request_timeout',
    408,
    INVALID,
    true,
    'The request did not arrive completely in time.',
  ),
  method_not_allowed: entry(
    'client_error',
    405,
    INVALID,
    'method_not_allowed',
    405,
    INVALID,
    false,
    'This route does not accept that method.',
  ),
  route_unknown: entry(
    'client_error',
    404,
    INVALID,
    'unknown_url',
    404,
    'not_found_error',
    false,
    'This route is not offered by this gateway.',
  ),
  model_not_found: entry(
    'client_error',
    404,
    INVALID,
    'model_not_found',
    404,
    'not_found_error',
    false,
    'The model does not exist or this key may not use it.',
  ),
  model_retired: entry(
    'client_error',
    404,
    INVALID,
    'model_not_found',
    404,
    'not_found_error',
    false,
    'The model has been retired.',
  ),
  permission_denied: entry(
    'client_error',
    403,
    INVALID,
    'permission_denied',
    403,
    'permission_error',
    false,
    'This key may not do that.',
  ),
  workspace_suspended: entry(
    'client_error',
    403,
    INVALID,
    'workspace_suspended',
    403,
    'permission_error',
    false,
    'This workspace is suspended; its owner can say why.',
  ),
  guardrail_blocked: entry(
    'client_error',
    400,
    INVALID,
    'content_blocked',
    400,
    INVALID,
    false,
    'The request was blocked by a rule of this workspace.',
  ),
  price_unknown: entry(
    'client_error',
    400,
    INVALID,
    'price_unknown',
    400,
    INVALID,
    false,
    'The model has no price and this workspace does not allow unpriced calls.',
  ),
  idempotency_in_progress: entry(
    'client_error',
    409,
    INVALID,
    'idempotency_in_progress',
    409,
    INVALID,
    true,
    'A request with the same Idempotency-Key is still running.',
  ),
  idempotency_mismatch: entry(
    'client_error',
    422,
    INVALID,
    'idempotency_mismatch',
    422,
    INVALID,
    false,
    'The Idempotency-Key was used before with another request body.',
  ),
  quota: entry(
    'quota',
    402,
    'insufficient_quota',
    'insufficient_quota',
    402,
    'billing_error',
    false,
    'The quota is used up.',
  ),
  shed: entry(
    'shed',
    503,
    'server_error',
    'overloaded',
    529,
    'overloaded_error',
    true,
    'Too many requests of this customer are in progress.',
  ),
  queue_timeout: entry(
    'shed',
    503,
    'server_error',
    'overloaded',
    529,
    'overloaded_error',
    true,
    'No provider capacity became free in time.',
  ),
  kill_switch: entry(
    'shed',
    503,
    'server_error',
    'unavailable',
    529,
    'overloaded_error',
    true,
    'This service is switched off by its operator for the moment.',
  ),
  draining: entry(
    'shed',
    503,
    'server_error',
    'overloaded',
    529,
    'overloaded_error',
    true,
    'This gateway is shutting down; send the request again.',
  ),
  metering_full: entry(
    'shed',
    503,
    'server_error',
    'overloaded',
    529,
    'overloaded_error',
    true,
    'The request cannot be metered at the moment and was not accepted.',
  ),
  metering_share: entry(
    'shed',
    503,
    'server_error',
    'overloaded',
    529,
    'overloaded_error',
    true,
    'Too many requests of this customer wait to be metered; this one was not accepted.',
  ),
  not_ready: entry(
    'shed',
    503,
    'server_error',
    'overloaded',
    529,
    'overloaded_error',
    true,
    'This gateway has no current configuration.',
  ),
  throttled: entry(
    'throttled',
    429,
    'rate_limit_exceeded',
    'rate_limit_exceeded',
    429,
    'rate_limit_error',
    true,
    'The rate limit is reached.',
  ),
  upstream_rate_limited: entry(
    'upstream_error',
    429,
    'rate_limit_exceeded',
    'rate_limit_exceeded',
    429,
    'rate_limit_error',
    true,
    'The model provider is limiting requests.',
  ),
  upstream_overloaded: entry(
    'upstream_error',
    503,
    'server_error',
    'overloaded',
    529,
    'overloaded_error',
    true,
    'The model provider is overloaded.',
  ),
  upstream_account: entry(
    'upstream_error',
    502,
    'server_error',
    'upstream_account',
    502,
    'api_error',
    true,
    'The model provider refused our account; the operator has been told.',
  ),
  upstream_unavailable: entry(
    'upstream_error',
    502,
    'server_error',
    'upstream_unavailable',
    502,
    'api_error',
    true,
    'No model provider could answer the request.',
  ),
  upstream_malformed: entry(
    'upstream_error',
    502,
    'server_error',
    'upstream_malformed',
    502,
    'api_error',
    true,
    'The model provider sent an answer that cannot be read.',
  ),
  upstream_timeout: entry(
    'timeout',
    504,
    'server_error',
    'upstream_timeout',
    504,
    'timeout_error',
    true,
    'The model provider did not answer in time.',
  ),
  caller_deadline: entry(
    'cancelled',
    504,
    'server_error',
    'deadline_exceeded',
    504,
    'timeout_error',
    true,
    'The deadline that came with the request has passed.',
  ),
  slow_reader: entry('cancelled', 408, INVALID, 'slow_reader', 408, INVALID, true, 'The answer was read too slowly.'),
  client_closed: entry(
    'cancelled',
    499,
    INVALID,
    'client_closed',
    499,
    INVALID,
    true,
    'The caller closed the connection.',
  ),
  internal: entry(
    'internal_error',
    500,
    'server_error',
    'internal_error',
    500,
    'api_error',
    true,
    'The gateway failed; the request id helps its operator to find out why.',
  ),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/**
 * A refusal is a value, never thrown: what a stage of the pipeline returns to end the call.
 * Texts are public; nothing secret and nothing of another tenant may stand in them.
 */
export interface Refusal {
  readonly code: ErrorCode;
  /** More exact than the catalogue's text. */
  readonly message?: string;
  /** The field that is wrong, as a path (`messages[0].content`). */
  readonly param?: string;
  /** How long to wait, milliseconds; sent as `retry-after` and `retry-after-ms`. */
  readonly retryAfterMs?: number;
  /** Another status than the catalogue's (`quotaStatus: 429`). */
  readonly status?: number;
  /** Sent as `error.details` in the Anthropic dialect, whose SDK recovers by its `error_code`. */
  readonly details?: { readonly error_code: string };
  /** Sent as `x-sluice-refused-by`. */
  readonly refusedBy?: 'upstream';
  /** Which limit refused, for logs and anomalies. */
  readonly limit?: { readonly level: 'tenant' | 'workspace' | 'key' | 'provider'; readonly name: string };
}

/** The base of every error that is thrown: machinery broke. `message` is internal; `publicText` may be shown. */
export class SluiceError extends Error {
  readonly code: ErrorCode;
  readonly publicText: string;
  readonly retryable: boolean;

  constructor(code: ErrorCode, internalText: string, options: { cause?: unknown; publicText?: string } = {}) {
    super(internalText, { cause: options.cause });
    this.name = 'SluiceError';
    this.code = code;
    this.publicText = options.publicText ?? ERROR_CATALOGUE[code].publicText;
    this.retryable = ERROR_CATALOGUE[code].retryable;
  }
}
