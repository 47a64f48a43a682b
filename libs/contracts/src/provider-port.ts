import type { ProviderDialect } from './catalogue.ts';
import type { Refusal } from './errors.ts';
import type { LargeBody, ObjectIndex } from './request-body.ts';
import type { ServedUse, TokenUsage } from './usage.ts';

/** What a caller wants of a model. `messages` is Anthropic's chat; `chat` is OpenAI's. */
export type Operation = 'chat' | 'messages' | 'responses' | 'embeddings' | 'count_tokens';

/** A parsed inbound call as adapters see it. */
export interface InboundCall {
  readonly operation: Operation;
  /** The bytes as they came. */
  readonly bytes: Buffer;
  /** The parsed body; adapters must not change it. Of a large one its small top-level members. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly stream: boolean;
  /** The caller asked for the usage chunk (`stream_options.include_usage`). */
  readonly wantsUsage: boolean;
  /** Inbound headers that may travel on (`anthropic-beta`, `anthropic-version`, `openai-beta`), lower case. */
  readonly forwardHeaders: Readonly<Record<string, string>>;
  /** What another dialect has no word for: refused, or left out (`drop`); refused when absent. */
  readonly acrossDialects?: 'refuse' | 'drop';
  /** The caller's query, without its question mark; undefined when it gave none. */
  readonly query?: string;
  /** Where the members of `bytes` stand that an adapter may replace; it looks itself where this is missing. */
  readonly index?: ObjectIndex;
  /** Set for a body that was parsed by a worker: what is not in `body` is known by this. */
  readonly large?: LargeBody;
}

/** Where a call goes. */
export interface UpstreamTarget {
  readonly baseUrl: string;
  readonly dialect: ProviderDialect;
  /** The provider's name for the model, sent byte for byte. */
  readonly providerModel: string;
  /** Resolved secret, or undefined for providers without one. */
  readonly secret: string | undefined;
  readonly extraHeaders: Readonly<Record<string, string>>;
  /** The workspace's UUID. */
  readonly tenantMarker: string;
  readonly carryFields: readonly string[];
  /** The most that the model can generate, by the catalogue; for dialects that must be told a bound. */
  readonly maxOutputTokens?: number;
}

/** A request ready to be sent. */
export interface UpstreamRequest {
  readonly method: 'POST';
  readonly origin: string;
  readonly path: string;
  /** Flat name, value list, as undici takes it. */
  readonly headers: string[];
  readonly body: Buffer;
  /** Paths of the caller's fields that were left out, because the provider's dialect has no place for them here. */
  readonly dropped?: readonly string[];
}

/** Limits that a provider's answers tell, per minute. */
export interface RateLimits {
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
}

/**
 * Why an attempt failed, by what may be done about it. `model_unknown`: the provider does not know the name that the
 * operator gave for the model.
 */
export type FaultKind =
  | 'connect'
  | 'timeout'
  | 'server'
  | 'rate_limited'
  | 'overloaded'
  | 'account'
  | 'context_window'
  | 'model_unknown'
  | 'caller'
  | 'truncated'
  | 'malformed';

export interface UpstreamFault {
  readonly kind: FaultKind;
  readonly status?: number;
  /** Of a `connect` or `timeout` fault: which of our deadlines passed. */
  readonly deadline?: 'connect' | 'first_byte' | 'idle';
  /** From Retry-After or retry-after-ms, milliseconds, not yet clamped. */
  readonly retryAfterMs?: number;
  /**
   * Whom it concerns, where the provider says so: nothing remains of the model's rate, or it is the whole account
   * that is limited, without money or without a valid key. Never from text that a caller can quote.
   */
  readonly reach?: 'model' | 'account';
  /** The provider's body, at most 64 KiB, when the dialect's rules let it pass to the caller. */
  readonly body?: Buffer;
  readonly contentType?: string;
  /** For logs; never shown. */
  readonly detail: string;
}

/** Faults that the caller caused; they never feed a shared breaker. */
export const CALLER_FAULTS: readonly FaultKind[] = ['caller', 'context_window'];

/** What was learned from a whole answer. */
export interface WholeAnswer {
  /** Absent when the provider gave none; explicit zeros are kept. */
  readonly usage: TokenUsage | undefined;
  /** What of the use has a price of its own; absent when nothing has. */
  readonly served?: ServedUse | undefined;
  readonly finishReason: string | undefined;
  /** The provider's model name in the answer. */
  readonly model: string | undefined;
  /** Characters of generated text, for an estimate where usage is absent. */
  readonly outputChars: number;
  /** The answer in the caller's dialect, where it had to be translated; else the provider's bytes are the answer. */
  readonly body?: Buffer;
}

/**
 * Reads one streamed answer as it passes. Bytes go in, bytes to forward come out; the same buffer comes back when
 * nothing has to be hidden. Any split of the bytes gives the same result.
 */
export interface StreamReader {
  /**
   * @returns what to forward now. Before the first content, preamble bytes are kept back and come out together with it.
   * @throws SluiceError `upstream_malformed` when a line passes the cap.
   */
  push(chunk: Buffer): Buffer | undefined;
  /**
   * The connection has ended in good order. Reads a last event whose blank line is missing, and ends the answer where it
   * is complete without the dialect's mark: then `ended` is true.
   *
   * @returns what is still to be forwarded, the mark included.
   */
  end(): Buffer | undefined;
  /** The first content (text, tool call, reasoning) has been seen. */
  readonly contentSeen: boolean;
  /** The answer is complete: it gave a reason for its finish, and its dialect's mark or the connection's own end came. */
  readonly ended: boolean;
  /** An in-band error event of the provider. */
  readonly fault: UpstreamFault | undefined;
  readonly usage: TokenUsage | undefined;
  /** `outputChars` when `usage` was reported: a count that came before more content is not the final one. */
  readonly countedChars: number;
  /** What of the use has a price of its own; undefined when nothing has. */
  readonly served: ServedUse | undefined;
  readonly finishReason: string | undefined;
  readonly model: string | undefined;
  readonly outputChars: number;
  /** Bytes still kept back (for an end without content). */
  flush(): Buffer | undefined;
}

/**
 * Tokens that the input is expected to be, for what a translated answer tells of it before, or without, a count of the
 * provider.
 */
export type ExpectedInput = () => number;

/** One wire dialect of providers. */
export interface ProviderAdapter {
  readonly dialect: ProviderDialect;
  /** Operations that pass without translation. */
  readonly operations: readonly Operation[];
  /** Operations of another dialect that are translated, request and answer, whole and streamed. */
  readonly translates: readonly Operation[];
  /** What of a call cannot be carried to this dialect (`unsupported_field`); undefined for every call of its own. */
  judge(call: InboundCall, carryFields: readonly string[]): Refusal | undefined;
  /** A refusal (`unsupported_field`) names what cannot be carried. */
  buildRequest(call: InboundCall, target: UpstreamTarget): UpstreamRequest | Refusal;
  /**
   * Classifies an answer with a status of 400 or above. `body` is at most 64 KiB; what may reach the caller is in
   * the caller's dialect.
   */
  classify(
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    body: Buffer,
    call: InboundCall,
  ): UpstreamFault;
  /** A 200 whose body cannot be read, or holds an error, is a fault. */
  readWhole(call: InboundCall, body: Buffer, expectedInput?: ExpectedInput): WholeAnswer | UpstreamFault;
  createStreamReader(call: InboundCall, expectedInput?: ExpectedInput): StreamReader;
}

/** True for a refusal among the results of `buildRequest`. */
export function isRefusal(value: UpstreamRequest | Refusal): value is Refusal {
  return 'code' in value;
}

/** True for a fault among the results of `readWhole`. */
export function isFault(value: WholeAnswer | UpstreamFault): value is UpstreamFault {
  return 'kind' in value;
}
