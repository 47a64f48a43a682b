/** SQLSTATE class of a value that PostgreSQL could not read; its message quotes the value. */
const OF_A_VALUE = /^22/;
const SQL_STATE = /^[0-9A-Z]{5}$/;
const MAX_WORDS = 300;

/**
 * What an error says, without the values that a statement was given. Drizzle puts all of them into its message, and
 * PostgreSQL quotes one that it cannot read; both may be a customer's, or a secret. At most 300 characters.
 */
export function errorWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error).slice(0, MAX_WORDS);
  if ('params' in error && 'query' in error) {
    const cause = error.cause === undefined ? '' : `: ${errorWords(error.cause)}`;
    return `Failed query${cause}`.slice(0, MAX_WORDS);
  }
  const code: unknown = Reflect.get(error, 'code');
  const refused = typeof code === 'string' && SQL_STATE.test(code) && OF_A_VALUE.test(code);
  // `invalid input syntax for type integer: "…"`
  const words = refused ? error.message.replace(/:[\s\S]*$/, '').replaceAll(/"[^"]*"/g, '"…"') : error.message;
  return words.slice(0, MAX_WORDS);
}

/** Fields of errors of databases and networks that name things and hold no values. */
const NAMING_FIELDS = [
  'code',
  'errno',
  'syscall',
  'severity',
  'schema',
  'table',
  'column',
  'constraint',
  'routine',
  'status',
];
const MAX_DEPTH = 5;

/** An error as a log shows it: type, words, where it came from, and fields that name things; its causes likewise. */
export function errorFields(error: unknown, depth = 0): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: errorWords(error) };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  const named = NAMING_FIELDS.flatMap((name) => {
    const value: unknown = Reflect.get(error, name);
    return typeof value === 'string' || typeof value === 'number' ? [[name, value] as const] : [];
  });
  const below = (one: unknown): Record<string, unknown> => errorFields(one, depth + 1);
  return {
    type: error.constructor.name,
    message: errorWords(error),
    stack: [`${error.name}: ${errorWords(error)}`, ...frames].join('\n'),
    ...Object.fromEntries(named),
    ...(error.cause === undefined || depth >= MAX_DEPTH ? {} : { cause: below(error.cause) }),
    ...(error instanceof AggregateError && depth < MAX_DEPTH ? { errors: error.errors.slice(0, 5).map(below) } : {}),
  };
}
