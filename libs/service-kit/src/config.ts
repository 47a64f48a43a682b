import { z } from 'zod';

/** The environment does not say what the process needs; the message has one sentence per variable and never a value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads configuration from environment variables. An empty variable counts as absent.
 *
 * @throws ConfigError that names every wrong variable at once.
 */
export function loadConfig<S extends z.ZodType>(schema: S, env: Record<string, string | undefined>): z.output<S> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const sentences = parsed.error.issues.map((issue) => {
    const name = issue.path.join('.');
    if (name === '') return `${issue.message}.`;
    return given[String(issue.path[0])] === undefined
      ? `${name} is not set.`
      : `${name} is not valid: ${issue.message}.`;
  });
  throw new ConfigError([...new Set(sentences)].join(' '));
}

/** The variables that every service reads; extend it: `z.object({ ...SERVICE_ENV, DATABASE_URL: z.string() })`. */
export const SERVICE_ENV = {
  HOST: z.string().default('127.0.0.1'),
  SLUICE_PORT_BASE: z.coerce.number().int().default(0),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
} as const;
