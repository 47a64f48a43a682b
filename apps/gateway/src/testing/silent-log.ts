import type { Log } from '../log.ts';

/** A logger that keeps what it was told. */
export function createSilentLog(): Log & {
  readonly lines: { readonly level: string; readonly message: string; readonly fields: object }[];
} {
  const lines: { level: string; message: string; fields: object }[] = [];
  const at = (level: string) => (fields: object, message: string) => void lines.push({ level, message, fields });
  return { lines, info: at('info'), warn: at('warn'), error: at('error') };
}
