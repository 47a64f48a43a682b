import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';

export type { Logger };

/** Fields that are never written, wherever a request or its headers are logged. */
const SECRET_FIELDS = ['authorization', 'cookie', 'password', 'token', 'key', 'secret', '["x-api-key"]', '["set-cookie"]', '["x-sluice-principal"]'];
const REDACT = SECRET_FIELDS.flatMap((name) => [name, name.startsWith('[') ? `*${name}` : `*.${name}`, name.startsWith('[') ? `*.headers${name}` : `*.headers.${name}`]);

export interface LoggerOptions {
  /** Stands in every line. */
  service: string;
  /** pino level; `LOG_LEVEL` of the environment, else `info`. */
  level?: string;
  /** Standard output when absent. */
  destination?: DestinationStream;
  /**
   * For one kind of line that is written for each request, with fixed fields of which none can hold a secret: nothing is
   * looked for and censored, and lines are written together, at the latest after a second.
   */
  highVolume?: boolean;
}

/** JSON lines with `level` as a word and `time` as RFC 3339; fields that hold secrets are censored. */
export function createLogger({ service, level, destination, highVolume = false }: LoggerOptions): Logger {
  const options = {
    level: level ?? process.env['LOG_LEVEL'] ?? 'info',
    base: { service },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    ...(highVolume ? {} : { redact: { paths: REDACT, censor: '[secret]' } }),
  };
  if (highVolume && destination === undefined) return pino(options, pino.destination({ dest: 1, sync: false, minLength: 8_192, periodicFlush: 1_000 }));
  return destination === undefined ? pino(options) : pino(options, destination);
}
