/**
 * The SQLSTATE of a failed statement; drizzle wraps what the driver throws. Undefined when it never reached the
 * server.
 */
export function sqlState(error: unknown): string | undefined {
  for (
    let at = error, depth = 0;
    typeof at === 'object' && at !== null && depth < 5;
    at = Reflect.get(at, 'cause'), depth += 1
  ) {
    const code: unknown = Reflect.get(at, 'code');
    if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return code;
  }
  return undefined;
}

/**
 * True when the server refused the value itself (data exception, broken constraint): sending it again changes
 * nothing.
 */
export function isRefusedData(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && (state.startsWith('22') || state.startsWith('23'));
}
