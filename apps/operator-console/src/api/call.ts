/** One call of the control plane. @throws ApiError for an answer that is not 2xx. */
export type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Response>;

/** An answer that was not 2xx, with what to show of it. */
export class ApiError extends Error {
  readonly status: number;
  /** What is wrong with each field, where the control plane says so. */
  readonly fields: readonly { readonly path: string; readonly message: string }[];
  /** Of an edit that somebody else was faster with. */
  readonly versions: { readonly yours: number; readonly current: number | null } | undefined;
  constructor(status: number, message: string, fields: ApiError['fields'] = [], versions?: ApiError['versions']) {
    super(message);
    this.status = status;
    this.fields = fields;
    this.versions = versions;
  }
}

/** A value with the version that an edit of it must name. */
export interface Versioned<T> {
  readonly value: T;
  readonly version: number;
}
