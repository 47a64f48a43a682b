import { createServer } from 'node:http';
import { SIM_SLOTS, type SimFault, type SimProviderName } from '@sluice/contracts';
import { listenOn, type Listening } from '@sluice/service-kit';
import { createAnswerRequest, type LiveCall } from './answer-request.ts';
import type { Dialect } from './dialect.ts';
import { createFaultSwitch, type FaultSwitch } from './fault-switch.ts';
import { createStats, type Stats } from './stats.ts';

export interface ProviderOptions {
  name: SimProviderName;
  dialect: Dialect;
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** Calls at a time; `SIM_SLOTS` when absent. */
  slots?: number;
}

export interface Provider {
  readonly name: SimProviderName;
  readonly url: string;
  readonly faults: FaultSwitch;
  readonly stats: Stats;
  readonly listening: boolean;
  /** Resolves once the last fault change is in force; rejects when the socket could not be opened again. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

const KEEP_ALIVE_MS = 65_000;
/** Calls in progress may take minutes and the provider is a toy: it does not wait for them. */
const GRACE_MS = 500;

/** One simulated provider on its own port. @throws Error with one sentence when the port is taken. */
export async function startProvider({
  name,
  dialect,
  host,
  port,
  slots = SIM_SLOTS,
}: ProviderOptions): Promise<Provider> {
  const live = new Set<LiveCall>();
  const stats = createStats(name);
  let change: Promise<void> = Promise.resolve();
  const faults = createFaultSwitch(name, (fault) => {
    change = change.catch(() => {}).then(() => apply(fault));
    change.catch(() => {});
  });
  const handler = createAnswerRequest({ dialect, stats, draw: faults.draw, slots, live });
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, handler);
  const first: Listening = await listenOn(server, { host, port, graceMs: GRACE_MS });

  function cutAll(): void {
    for (const call of live) call.fail();
    server.closeAllConnections();
  }

  async function apply(fault: SimFault | undefined): Promise<void> {
    if (fault?.kind === 'refuse') {
      if (!server.listening) return;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      cutAll();
      return closed;
    }
    if (!server.listening) await listenOn(server, { host, port: first.port });
    if (fault?.kind === 'down' && (fault.rate ?? 1) === 1) cutAll();
  }

  return {
    name,
    url: first.url,
    faults,
    stats,
    get listening() {
      return server.listening;
    },
    settled: () => change,
    async close() {
      faults.clear();
      await change.catch(() => {});
      await first.close();
    },
  };
}
