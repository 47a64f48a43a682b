import { Agent, request } from 'undici';
import type { Clock, GatewayReport, SecondCounts } from '@sluice/contracts';
import type { Log } from '../log.ts';
import type { LiveCounters } from './live-counters.ts';

/** Seconds that could not be delivered are sent again this long, then dropped: the live picture is no ledger. */
const RESEND_SECONDS = 10;

export interface ReporterDeps {
  /** Base URL of the control plane. */
  readonly url: string;
  readonly token: string;
  readonly clock: Clock;
  readonly logger: Log;
  readonly counters: LiveCounters;
  /** Everything of a report but its seconds. */
  readonly describe: () => Omit<GatewayReport, 'seconds'>;
  readonly intervalMs?: number;
}

export interface Reporter {
  start(): void;
  /** Sends one report; never throws. */
  send(): Promise<void>;
  /** Sends a last report and stops. */
  close(): Promise<void>;
}

/** Tells the control plane once a second what this gateway does. Nothing waits for it. */
export function createReporter({
  url,
  token,
  clock,
  logger,
  counters,
  describe,
  intervalMs = 1_000,
}: ReporterDeps): Reporter {
  const agent = new Agent({ connections: 1, headersTimeout: 3_000, bodyTimeout: 3_000, connect: { timeout: 2_000 } });
  let unsent: SecondCounts[] = [];
  let sending: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let failing = false;

  async function post(): Promise<void> {
    const oldest = Math.floor(clock.now() / 1000) - RESEND_SECONDS;
    unsent = [...unsent, ...counters.takeFinished()].filter((row) => row.second >= oldest);
    const seconds = unsent;
    try {
      const response = await request(`${url}/internal/gateways/report`, {
        method: 'POST',
        dispatcher: agent,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...describe(), seconds } satisfies GatewayReport),
      });
      await response.body.dump();
      if (response.statusCode >= 300)
        throw new Error(`the control plane answered the report with ${response.statusCode}`);
      unsent = [];
      if (failing) logger.info({}, 'reports are delivered again');
      failing = false;
    } catch (error) {
      if (!failing)
        logger.warn(
          { reason: error instanceof Error ? error.message : 'unknown' },
          'reports are not delivered; the live picture is blind here',
        );
      failing = true;
    }
  }

  const reporter: Reporter = {
    start() {
      timer ??= setInterval(() => void reporter.send(), intervalMs).unref();
    },
    send() {
      sending ??= post().finally(() => {
        sending = undefined;
      });
      return sending;
    },
    async close() {
      clearInterval(timer);
      await sending;
      await reporter.send();
      await agent.destroy();
    },
  };
  return reporter;
}
