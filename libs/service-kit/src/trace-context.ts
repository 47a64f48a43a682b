import { pooledRandomHex } from './pooled-random-bytes.ts';

/** W3C Trace Context (Recommendation, 2021). */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits, not all zero: the span that this context names. */
  readonly spanId: string;
  readonly sampled: boolean;
}

const PATTERN = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The caller's context, or undefined when the header is absent or malformed (a new trace starts then). */
export function parseTraceparent(header: string | undefined): TraceContext | undefined {
  const match = header === undefined || header.length > 512 ? null : PATTERN.exec(header);
  if (match === null) return undefined;
  const [, version = '', traceId = '', spanId = '', flags = '', rest] = match;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** A context with a span id of its own below `parent`, or the root of a new unsampled trace. */
export function childTraceContext(parent: TraceContext | undefined): TraceContext {
  return {
    traceId: parent?.traceId ?? pooledRandomHex(32),
    spanId: pooledRandomHex(16),
    sampled: parent?.sampled ?? false,
  };
}

/** Header value for the next hop. */
export function formatTraceparent(context: TraceContext): string {
  return `00-${context.traceId}-${context.spanId}-${context.sampled ? '01' : '00'}`;
}

/** Header value for the next hop below `parent`: the same trace, a new span. */
export function childTraceparent(parent: TraceContext | undefined): string {
  return formatTraceparent(childTraceContext(parent));
}
