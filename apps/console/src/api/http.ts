import type { Problem } from '@sluice/contracts';

export interface FieldFault {
  readonly path: string;
  readonly message: string;
}

/** The backend refused or failed. `message` is a whole sentence for people. */
export class ApiError extends Error {
  /** 0 when nothing answered at all. */
  readonly status: number;
  /** What was wrong with single fields, by path. */
  readonly fields: readonly FieldFault[];
  /** Seconds to wait before it makes sense to ask again; undefined when nothing was said. */
  readonly retryAfterS: number | undefined;
  /** Finds the call in the operator's logs. */
  readonly requestId: string | undefined;
  /** The whole answer as it came. */
  readonly body: unknown;

  constructor(
    status: number,
    message: string,
    told: {
      fields?: readonly FieldFault[];
      retryAfterS?: number | undefined;
      requestId?: string | undefined;
      body?: unknown;
    } = {},
  ) {
    super(message);
    this.status = status;
    this.fields = told.fields ?? [];
    this.retryAfterS = told.retryAfterS;
    this.requestId = told.requestId;
    this.body = told.body;
  }

  /** True when what stands behind the console does not answer, so that asking again later may help. */
  get down(): boolean {
    return this.status === 0 || this.status === 502 || this.status === 503 || this.status === 504;
  }
}

export interface Answer<T> {
  readonly body: T;
  /** Without the quotes of the wire; undefined when there is none. */
  readonly etag: string | undefined;
}

/** Asks the console's backend. @throws ApiError for everything that is not 2xx. */
export async function ask<T>(path: string, init: RequestInit = {}): Promise<Answer<T>> {
  const res = await send(path, init);
  const body = res.status === 204 ? undefined : await res.json().catch(() => undefined);
  return { body: body as T, etag: res.headers?.get('etag') ?? undefined };
}

/** As `ask`, but gives the answer unread, for streams and files. @throws ApiError */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  let res: Response;
  try {
    res = await fetch(path, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, 'The console server does not answer. Check your connection.');
  }
  if (!res.ok) throw await readProblem(res);
  return res;
}

async function readProblem(res: Response): Promise<ApiError> {
  const body = ((await res.json().catch(() => undefined)) ?? {}) as Partial<Problem>;
  const sentence = [body.title ?? `The server answered ${res.status}`, body.detail]
    .filter((part) => part !== undefined && part !== '')
    .map((part) => String(part).replace(/\.$/, ''));
  const wait = Number(res.headers?.get('retry-after') ?? NaN);
  return new ApiError(res.status, `${sentence.join('. ')}.`, {
    fields: body.errors ?? [],
    retryAfterS: Number.isFinite(wait) ? wait : undefined,
    requestId: body.request_id,
    body,
  });
}

/** `init` of a call with a JSON body. */
export function json(
  method: 'POST' | 'PUT' | 'PATCH',
  body: unknown,
  headers: Record<string, string> = {},
): RequestInit {
  return { method, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

/** A path with its query; what is undefined or empty is left out. */
export function at(path: string, params: Readonly<Record<string, string | number | undefined | null>>): string {
  const given = Object.entries(params).flatMap(([name, value]) =>
    value === undefined || value === null || value === '' ? [] : [[name, String(value)]],
  );
  return `${path}?${new URLSearchParams(given).toString()}`;
}
