import { pino, type DestinationStream } from 'pino';
import { isoTime } from './iso-time.ts';

/** Lines are written together when they fill this much, or after a second. */
const BATCH_BYTES = 64 * 1024;
const FLUSH_MS = 1_000;
/** A UTF-16 unit becomes at most three bytes. */
const MAX_BYTES_PER_UNIT = 3;

/**
 * A log for one kind of line that is written for each request, as text that its writer has made: a logger that looks at
 * every field costs several times that. Its lines look like those of `createLogger`, and nothing in them is censored.
 */
export interface LineLog {
  /** False where the level leaves such lines out; then nothing needs to be made. */
  readonly enabled: boolean;
  /**
   * @param members the line's own members as JSON, without braces: `"a":1,"b":"x"`.
   * @param nowMs epoch milliseconds.
   */
  info(members: string, nowMs: number, message: string): void;
  /** Hands over what was kept together. */
  flush(): void;
}

export interface LineLogOptions {
  /** Stands in every line. */
  readonly service: string;
  /** A level above `info` leaves all lines out. */
  readonly level: string;
  /** Standard output when absent. */
  readonly destination?: DestinationStream;
}

export function createLineLog({ service, level, destination }: LineLogOptions): LineLog {
  const rank = pino.levels.values[level];
  const enabled = rank !== undefined && rank <= (pino.levels.values['info'] as number);
  const out = destination ?? pino.destination({ dest: 1, sync: false, minLength: 0 });
  const named = `","service":${JSON.stringify(service)},`;
  const buffer = Buffer.allocUnsafeSlow(enabled ? BATCH_BYTES : 0);
  let used = 0;
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (used > 0) out.write(buffer.toString('utf8', 0, used));
    used = 0;
  };
  // What a process that ends by itself has kept is written all the same.
  if (enabled && destination === undefined) process.once('exit', flush);

  return {
    enabled,
    info(members, nowMs, message) {
      if (!enabled) return;
      const line = `{"level":"info","time":"${isoTime(nowMs)}${named}${members},"msg":"${message}"}\n`;
      const most = line.length * MAX_BYTES_PER_UNIT;
      if (used + most > BATCH_BYTES) flush();
      if (most > BATCH_BYTES) {
        out.write(line);
        return;
      }
      used += buffer.write(line, used, 'utf8');
      timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
    flush,
  };
}
