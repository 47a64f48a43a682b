import { errorFields, errorWords } from '@sluice/contracts';
import { pino, stdTimeFunctions, type DestinationStream, type LogFn, type Logger } from 'pino';

export type { Logger };

/** Fields that are never written, wherever a request or its headers are logged. */
const SECRET_FIELDS = [
  'authorization',
  'cookie',
  'password',
  'token',
  'key',
  'secret',
  '["x-api-key"]',
  '["set-cookie"]',
  '["x-sluice-principal"]',
];
const REDACT = SECRET_FIELDS.flatMap((name) => [
  name,
  name.startsWith('[') ? `*${name}` : `*.${name}`,
  name.startsWith('[') ? `*.headers${name}` : `*.headers.${name}`,
]);

/** A line without words of its own takes those of its error, which pino would take with every value in them. */
function withSafeWords(this: Logger, args: Parameters<LogFn>, method: LogFn): void {
  const [first, words] = args as unknown[];
  const error: unknown = first instanceof Error ? first : (first as { err?: unknown } | null | undefined)?.err;
  if (error instanceof Error && words === undefined)
    return method.call(this, first instanceof Error ? { err: first } : first, errorWords(error));
  return method.apply(this, args);
}

export interface LoggerOptions {
  /** Stands in every line. */
  service: string;
  /** pino level; `LOG_LEVEL` of the environment, else `info`. */
  level?: string;
  /** Standard output when absent. */
  destination?: DestinationStream;
}

/**
 * JSON lines with `level` as a word and `time` as RFC 3339; fields that hold secrets are censored, and errors show
 * nothing that a statement was given.
 */
export function createLogger({ service, level, destination }: LoggerOptions): Logger {
  const options = {
    level: level ?? process.env['LOG_LEVEL'] ?? 'info',
    base: { service },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    // Of an error only what is known to hold no value of a statement.
    serializers: { err: errorFields, error: errorFields },
    hooks: { logMethod: withSafeWords },
    redact: { paths: REDACT, censor: '[secret]' },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
