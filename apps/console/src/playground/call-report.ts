import { PLAYGROUND_ERROR_TEXT } from './refusal-words.ts';

/** What the headers of an answer tell, for people. */
export interface CallReport {
  readonly requestId: string | undefined;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly fallback: string | undefined;
  readonly attempts: number | undefined;
  readonly queueMs: number | undefined;
  /** What is left of each limit right after this call was let in. */
  readonly limits: readonly {
    readonly name: string;
    readonly remaining: number;
    readonly limit: number;
    readonly reset: string | undefined;
  }[];
  readonly quotaRemainingTokens: number | undefined;
  readonly quotaWarning: string | undefined;
}

const numberOf = (text: string | null): number | undefined =>
  text === null || !/^\d+(\.\d+)?$/.test(text) ? undefined : Number(text);

export function reportOf(headers: Headers): CallReport {
  const text = (name: string): string | undefined => headers.get(name) ?? undefined;
  return {
    requestId: text('x-request-id'),
    provider: text('x-sluice-provider'),
    model: text('x-sluice-model'),
    fallback: text('x-sluice-fallback') === 'true' ? (text('x-sluice-fallback-reason') ?? 'yes') : undefined,
    attempts: numberOf(headers.get('x-sluice-attempts')),
    queueMs: numberOf(headers.get('x-sluice-queue-ms')),
    limits: ['requests', 'tokens'].flatMap((name) => {
      const remaining = numberOf(headers.get(`x-ratelimit-remaining-${name}`));
      const limit = numberOf(headers.get(`x-ratelimit-limit-${name}`));
      return remaining === undefined || limit === undefined
        ? []
        : [{ name, remaining, limit, reset: text(`x-ratelimit-reset-${name}`) }];
    }),
    quotaRemainingTokens: numberOf(headers.get('x-sluice-quota-remaining-tokens')),
    quotaWarning: text('x-sluice-quota-warning'),
  };
}

/** Why a call was refused, as a person would want it. */
export interface RefusalReport {
  readonly status: number;
  /** Our word for it, or that of the provider. */
  readonly code: string | undefined;
  /** Headline. */
  readonly title: string;
  /** The gateway's own sentence: it names the limit, its level and its use. */
  readonly message: string;
  readonly todo: string;
  /** Seconds until trying again makes sense; undefined when waiting does not help. */
  readonly waitS: number | undefined;
  readonly requestId: string | undefined;
}

interface ErrorBody {
  readonly error?: { readonly message?: unknown; readonly code?: unknown };
  readonly title?: unknown;
  readonly detail?: unknown;
  readonly request_id?: unknown;
}

/** Reads a refusal of the gateway (OpenAI's shape) or of the console's backend (a problem). */
export function refusalOf(status: number, headers: Headers, body: unknown): RefusalReport {
  const { error, title, detail, request_id: problemId } = (body ?? {}) as ErrorBody;
  const code = headers.get('x-sluice-refusal') ?? (typeof error?.code === 'string' ? error.code : undefined);
  const waitMs = numberOf(headers.get('retry-after-ms'));
  const waitS = waitMs === undefined ? numberOf(headers.get('retry-after')) : waitMs / 1000;
  const told =
    typeof error?.message === 'string'
      ? error.message
      : [title, detail].filter((part) => typeof part === 'string').join('. ');
  const words =
    PLAYGROUND_ERROR_TEXT[code ?? ''] ??
    (status === 401
      ? PLAYGROUND_ERROR_TEXT['signed_out']
      : status >= 500
        ? PLAYGROUND_ERROR_TEXT['internal']
        : undefined);
  return {
    status,
    code,
    title: words?.title ?? `The call was refused with status ${status}`,
    message: told === '' ? `The gateway answered ${status}.` : told,
    todo: words?.todo ?? 'See the message for what would be right.',
    waitS,
    requestId: headers.get('x-request-id') ?? (typeof problemId === 'string' ? problemId : undefined),
  };
}
