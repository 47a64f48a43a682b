import type { Permission, Principal } from '@sluice/contracts';
import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { ControlPlane, Scope } from '../control-plane.ts';

/** What the reader may see beyond the route's own permission. */
export interface Sight {
  readonly cost: boolean;
}

export interface ScopedCall {
  readonly principal: Principal;
  readonly slug: string;
  /** Principal and slug, as the control plane is asked. */
  readonly scope: Scope;
  readonly sight: Sight;
  /** Parsed by the route's `query`. */
  readonly query: Readonly<Record<string, string>>;
  readonly params: Readonly<Record<string, string>>;
  /** Parsed by the route's `body`. */
  readonly body: unknown;
  /** `If-Match`; undefined when it is absent. */
  readonly ifMatch: string | undefined;
  readonly nowMs: number;
}

/** What a route answers: a view, text as a file, what somebody else changed meanwhile, or that it is not there. */
export type ScopedAnswer =
  | { readonly kind: 'view'; readonly view: unknown; readonly etag?: string | undefined }
  | { readonly kind: 'csv'; readonly text: string; readonly name: string }
  | { readonly kind: 'conflict'; readonly view: unknown; readonly etag?: string | undefined }
  | { readonly kind: 'missing' };

/** A route that shows something of one workspace. All of them take `?workspace=<slug>` and are scoped in one place. */
export interface ScopedRoute {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  readonly path: string;
  readonly summary: string;
  readonly permission: Permission;
  readonly query?: z.ZodType<Record<string, string>>;
  /** What the route takes; other fields are a 400. */
  readonly body?: z.ZodType;
  /** 200 unless told; 204 has no view. */
  readonly status?: 201 | 204;
  /** Checked on the way out; absent for an answer without a body. */
  readonly view?: z.ZodType;
  /** Of a 412. */
  readonly conflict?: z.ZodType;
  readonly answer?: (controlPlane: ControlPlane, call: ScopedCall) => Promise<ScopedAnswer>;
  /** Writes the answer itself, instead of `answer`. */
  readonly stream?: (call: ScopedCall, req: Request, res: Response) => Promise<void>;
}

export const shown = (view: unknown, etag?: string): ScopedAnswer => ({ kind: 'view', view, etag });
export const missing: ScopedAnswer = { kind: 'missing' };
/** Of an answer without a body. */
export const done: ScopedAnswer = { kind: 'view', view: undefined };
