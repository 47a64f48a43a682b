/** The part of a pino logger that the spine's adapters use. */
export interface SpineLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
