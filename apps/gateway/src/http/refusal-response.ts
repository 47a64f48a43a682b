import { ERROR_CATALOGUE, HEADER, type Dialect, type ErrorEntry, type Refusal } from '@sluice/contracts';
import type { ClientResponse } from './client-response.ts';

/** Beyond this wait the SDKs are told not to retry: they would sleep that long. */
const LONGEST_RETRY_MS = 60_000;

export interface RefusalResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: Buffer;
}

/** A refusal as it goes over the wire in the route's own dialect. Everything comes from the one catalogue. */
export function refusalResponse(refusal: Refusal, dialect: Dialect, requestId: string): RefusalResponse {
  const entry: ErrorEntry = ERROR_CATALOGUE[refusal.code];
  const status = refusal.status ?? entry.status[dialect];
  return {
    status,
    headers: refusalHeaders(refusal, entry, status),
    body: Buffer.from(JSON.stringify(errorBody(refusal, entry, dialect, requestId))),
  };
}

/** Sends a refusal as the whole answer; the response must not be committed yet. */
export function sendRefusal(
  response: ClientResponse,
  refusal: Refusal,
  dialect: Dialect,
  requestId: string,
): Promise<void> {
  const { status, headers, body } = refusalResponse(refusal, dialect, requestId);
  for (const name in headers) response.setHeader(name, headers[name] as string);
  response.commit(status, { stream: false, contentType: 'application/json', contentLength: body.length });
  return response.finish(body);
}

/** The server-sent event that ends a stream which has begun and cannot go on. No end marker follows it. */
export function inBandError(refusal: Refusal, dialect: Dialect, requestId: string): Buffer {
  const json = JSON.stringify(errorBody(refusal, ERROR_CATALOGUE[refusal.code], dialect, requestId));
  return Buffer.from(dialect === 'anthropic' ? `event: error\ndata: ${json}\n\n` : `data: ${json}\n\n`);
}

function errorBody(refusal: Refusal, entry: ErrorEntry, dialect: Dialect, requestId: string): object {
  const message = refusal.message ?? entry.publicText;
  if (dialect === 'anthropic') {
    return {
      type: 'error',
      error: {
        type: entry.anthropicType,
        message: withParam(message, refusal.param),
        ...(refusal.details === undefined ? {} : { details: refusal.details }),
      },
      request_id: requestId,
    };
  }
  return { error: { message, type: entry.openaiType, param: refusal.param ?? null, code: entry.openaiCode } };
}

/** Anthropic's body has no field for the parameter, so the message names it. */
function withParam(message: string, param: string | undefined): string {
  return param === undefined || message.includes(param) ? message : `${param}: ${message}`;
}

function refusalHeaders(refusal: Refusal, entry: ErrorEntry, status: number): Record<string, string> {
  const headers: Record<string, string> = { [HEADER.refusal]: refusal.code };
  if (refusal.refusedBy !== undefined) headers[HEADER.refusedBy] = refusal.refusedBy;
  if (status === 401) headers['www-authenticate'] = 'Bearer realm="sluice"';
  const wait = refusal.retryAfterMs;
  if (wait !== undefined && Number.isFinite(wait)) {
    const waitMs = Math.max(1, Math.ceil(wait));
    headers[HEADER.retryAfter] = String(Math.max(1, Math.ceil(waitMs / 1000)));
    headers[HEADER.retryAfterMs] = String(waitMs);
  }
  if (!entry.retryable || (wait !== undefined && !(wait <= LONGEST_RETRY_MS))) headers[HEADER.shouldRetry] = 'false';
  return headers;
}
