import type { FaultKind, UpstreamFault } from '@sluice/contracts';
import { kindOfStatus } from './classify-status.ts';
import { asObject } from './token-count.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Words of `code`, `type`, `status` and `reason` by which vendors say whose fault an error is, whatever its HTTP status.
 * Compared without case and punctuation. The text of a message never decides, because it may quote the caller.
 */
const WORDS_OF: readonly (readonly [FaultKind, readonly string[]])[] = [
  [
    'account',
    [
      // OpenAI and Azure.
      'insufficient_quota',
      'quota_exceeded',
      'billing_not_active',
      'billing_hard_limit_reached',
      'organization_usage_limit_exceeded',
      'organization_spend_limit_exceeded',
      'project_spend_limit_exceeded',
      'account_deactivated',
      'invalid_api_key',
      'unsupported_country_region_territory',
      // Anthropic.
      'billing_error',
      'authentication_error',
      'permission_error',
      // Moonshot.
      'exceeded_current_quota_error',
      'invalid_authentication_error',
      'incorrect_api_key_error',
      'permission_denied_error',
      // Alibaba, Volcengine.
      'Arrearage',
      'AllocationQuota.FreeTierOnly',
      'AccessDenied.Unpurchased',
      'InvalidApiKey',
      'AccountOverdueError',
      'AuthenticationError',
      // Google: its status and the reasons in its details.
      'UNAUTHENTICATED',
      'API_KEY_INVALID',
      'API_KEY_SERVICE_BLOCKED',
      'BILLING_DISABLED',
      'CONSUMER_SUSPENDED',
      'SERVICE_DISABLED',
      // Zhipu: invalid key, inactive, locked, in arrears, no package.
      '1000',
      '1001',
      '1003',
      '1110',
      '1112',
      '1113',
      // MiniMax.
      'base_resp 1004',
      'base_resp 1008',
      'base_resp 2049',
      // Gateways and resellers: LiteLLM, OpenRouter, new-api, Together, Groq.
      'budget_exceeded',
      'insufficient_user_quota',
      'insufficient_balance',
      'insufficient_credits',
      'payment_required',
      'credit_limit',
      'organization_restricted',
    ],
  ],
  [
    'rate_limited',
    [
      'rate_limit_error',
      'rate_limit_exceeded',
      'rate_limit_reached_error',
      'RESOURCE_EXHAUSTED',
      'Throttling.RateQuota',
      'Throttling.AllocationQuota',
      'base_resp 1002',
    ],
  ],
  ['overloaded', ['overloaded_error', 'engine_overloaded_error', 'UNAVAILABLE']],
  ['context_window', ['context_length_exceeded']],
  [
    'model_unknown',
    [
      'model_not_found',
      'ModelNotFound',
      'DeploymentNotFound',
      'model_not_available',
      'model_decommissioned',
      'invalid_model',
    ],
  ],
  [
    'caller',
    [
      'invalid_request_error',
      'content_filter',
      'content_policy_violation',
      'data_inspection_failed',
      'BadRequestError',
    ],
  ],
];

/** Words about the account that may be about what this call asked for: a permission, a place. */
const PERMISSIONS: readonly string[] = [
  'unsupported_country_region_territory',
  'permission_error',
  'permission_denied_error',
  'AccessDenied.Unpurchased',
  'API_KEY_SERVICE_BLOCKED',
  'SERVICE_DISABLED',
];

const bare = (word: string): string => word.toLowerCase().replace(/[^a-z0-9]/g, '');
const KIND_OF = new Map(WORDS_OF.flatMap(([kind, words]) => words.map((word) => [bare(word), kind] as const)));
const PERMISSION_WORDS = new Set(PERMISSIONS.map(bare));
/** Which word decides where an error has several. */
const STRONGEST: readonly FaultKind[] = [
  'account',
  'rate_limited',
  'overloaded',
  'context_window',
  'model_unknown',
  'caller',
];

/**
 * The error in an answer, in whichever shape a provider puts it; undefined for an answer that is none.
 *
 * @returns its members, with `message` among them where there is one.
 */
export function errorIn(value: unknown): Json | undefined {
  // Google wraps the errors of its compatible endpoint in an array.
  if (Array.isArray(value)) return value.length === 1 ? errorIn(value[0]) : undefined;
  const answer = asObject(value);
  if (answer === undefined) return undefined;
  const { error, code, type } = answer;
  const inner = asObject(error);
  if (inner !== undefined && (Object.keys(inner).length > 0 || answer.choices === undefined)) return inner;
  if (typeof error === 'string' && error !== '') return { message: error, code, type };
  if (error === true || answer.object === 'error' || type === 'error') return answer;
  const base = asObject(answer.base_resp);
  if (typeof base?.status_code === 'number' && base.status_code !== 0)
    return { code: `base_resp ${base.status_code}`, message: base.status_msg };
  if (isAnswer(answer)) return undefined;
  if (typeof answer.message === 'string' || answer.detail !== undefined || answer.errors !== undefined) return answer;
  return undefined;
}

function isAnswer(answer: Json): boolean {
  return ['choices', 'data', 'content', 'usage', 'input_tokens'].some((key) => answer[key] !== undefined);
}

/** An answer that finished for the reason `error`; the choice may say more of it. */
export function errorOfChoice(answer: Json | undefined): Json | undefined {
  if (!Array.isArray(answer?.choices)) return undefined;
  for (const item of answer.choices) {
    const choice = asObject(item);
    const error = errorIn({ error: choice?.error, choices: [] });
    if (error !== undefined || choice?.finish_reason === 'error') return error ?? {};
  }
  return undefined;
}

/** What the words of an error say; undefined where none of them is known. */
export function kindOfWords(error: Json): FaultKind | undefined {
  let best = STRONGEST.length;
  for (const word of wordsOf(error)) {
    const kind = KIND_OF.get(bare(word));
    if (kind !== undefined) best = Math.min(best, STRONGEST.indexOf(kind));
  }
  return STRONGEST[best];
}

/** Whether an error's words mean the account as a whole, for whoever calls: no money, no valid key. */
export function reachOfWords(error: Json | undefined): Pick<UpstreamFault, 'reach'> {
  const means = (word: string): boolean => KIND_OF.get(word) === 'account' && !PERMISSION_WORDS.has(word);
  return error !== undefined && wordsOf(error).map(bare).some(means) ? { reach: 'account' } : {};
}

function wordsOf(error: Json): string[] {
  const words: unknown[] = [error.code, error.type, error.status];
  for (const detail of Array.isArray(error.details) ? error.details : []) words.push(asObject(detail)?.reason);
  return words.flatMap((word) =>
    typeof word === 'string' && word.length <= 100 ? [word] : typeof word === 'number' ? [String(word)] : [],
  );
}

/** The HTTP status that an error names in its code; undefined where it names none. */
export function statusNamedBy(error: Json): number | undefined {
  for (const word of [error.code, error.status_code, error.status]) {
    const status = typeof word === 'string' && /^\d{3}$/.test(word) ? Number(word) : word;
    if (typeof status === 'number' && Number.isInteger(status) && status >= 400 && status < 600) return status;
  }
  return undefined;
}

/**
 * The fault of an error inside an answer with status 200: as its words say, else as the status that it names, else the
 * provider's. What the caller caused has the status and the body that it would have had.
 *
 * @param where for the log.
 */
export function faultOfError(error: Json, where: string): UpstreamFault {
  const named = statusNamedBy(error);
  const kind = kindOfWords(error) ?? (named === undefined ? 'server' : kindOfStatus(named));
  const detail = `an error ${where}: ${String(error.code ?? error.type).slice(0, 80)}`;
  if (kind !== 'caller' && kind !== 'context_window')
    return { kind, status: named ?? 200, ...(kind === 'account' ? reachOfWords(error) : {}), detail };
  const { message, type, param, code } = error;
  const body = { error: { message, type: type ?? 'invalid_request_error', param: param ?? null, code: code ?? null } };
  return {
    kind,
    status: named !== undefined && named < 500 ? named : 400,
    body: Buffer.from(JSON.stringify(body)),
    contentType: 'application/json',
    detail,
  };
}
