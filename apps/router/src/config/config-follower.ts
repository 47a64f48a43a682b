import { applyPatch, ConfigPatch, errorWords, type ConfigSnapshot } from '@sluice/contracts';
import { createSseParser, readConfigSnapshot, type SseEvent } from '@sluice/service-kit';
import { compileConfig, type RouterConfig } from './router-config.ts';

const MAX_EVENT_CHARS = 512 * 1024 * 1024;
const FIRST_RETRY_MS = 200;
const LONGEST_RETRY_MS = 5_000;

export interface ConfigFollower {
  /** The last configuration; undefined before the first. */
  readonly current: RouterConfig | undefined;
  readonly connected: boolean;
  close(): Promise<void>;
}

interface FollowerLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Follows the control plane's configuration and goes on with the last version while that is away. */
export function followConfig(deps: {
  readonly url: string;
  readonly token: string;
  readonly logger: FollowerLog;
  readonly silenceMs?: number;
  readonly onChange?: (config: RouterConfig) => void;
}): ConfigFollower {
  const { logger, silenceMs = 15_000 } = deps;
  const abort = new AbortController();
  let snapshot: ConfigSnapshot | undefined;
  let current: RouterConfig | undefined;
  let connected = false;
  let needsSnapshot = false;

  function take({ event, data }: SseEvent): void {
    if (event === 'snapshot') snapshot = readConfigSnapshot(JSON.parse(data), logger);
    else if (event === 'patch') {
      const patch = ConfigPatch.parse(JSON.parse(data));
      if (snapshot === undefined) throw new RangeError('a patch came before a snapshot');
      if (patch.version <= snapshot.version) return;
      snapshot = applyPatch(snapshot, patch);
    } else return;
    needsSnapshot = false;
    current = compileConfig(snapshot, logger);
    deps.onChange?.(current);
  }

  async function readStream(): Promise<void> {
    const quiet = new AbortController();
    let timer = setTimeout(() => quiet.abort(), silenceMs);
    try {
      const since = needsSnapshot ? 0 : (snapshot?.version ?? 0);
      const response = await fetch(`${deps.url}/internal/router/config?since=${since}`, {
        headers: { authorization: `Bearer ${deps.token}`, accept: 'text/event-stream' },
        signal: AbortSignal.any([abort.signal, quiet.signal]),
      });
      if (response.status !== 200 || response.body === null)
        throw new Error(`the control plane answered ${response.status}`);
      connected = true;
      const parser = createSseParser(MAX_EVENT_CHARS);
      for await (const chunk of response.body) {
        clearTimeout(timer);
        timer = setTimeout(() => quiet.abort(), silenceMs);
        for (const event of parser.push(Buffer.from(chunk))) {
          try {
            take(event);
          } catch (error) {
            needsSnapshot = true;
            throw error;
          }
        }
      }
    } finally {
      clearTimeout(timer);
      connected = false;
    }
  }

  async function follow(): Promise<void> {
    for (let failures = 0; !abort.signal.aborted; failures = Math.min(failures + 1, 8)) {
      try {
        await readStream();
        failures = 0;
      } catch (error) {
        if (!abort.signal.aborted && failures === 0)
          logger.warn(
            { reason: errorWords(error) },
            'the configuration stream is broken; deciding by the last version',
          );
      }
      await pause(Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures), abort.signal);
    }
  }

  const running = follow();
  return {
    get current() {
      return current;
    },
    get connected() {
      return connected;
    },
    close: () => {
      abort.abort();
      return running;
    },
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
