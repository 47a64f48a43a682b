import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';

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

export interface LoggerOptions {
  /** Stands in every line. */
  service: string;
  /** pino level; `LOG_LEVEL` of the environment, else `info`. */
  level?: string;
  /** Standard output when absent. */
  destination?: DestinationStream;
}

/** JSON lines with `level` as a word and `time` as RFC 3339; fields that hold secrets are censored. */
export function createLogger({ service, level, destination }: LoggerOptions): Logger {
  const options = {
    level: level ?? process.env['LOG_LEVEL'] ?? 'info',
    base: { service },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: REDACT, censor: '[secret]' },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
