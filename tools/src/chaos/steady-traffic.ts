import { Pool } from 'undici';
import type { StackFile } from '@sluice/contracts';
import { STEADY, type DemoTenant } from '../demo/tenant-traffic.ts';
import { sendCall, type CallResult } from '../load/send-call.ts';

/** Calls a second of each tenant, inside its limits. */
export type Rates = Partial<Record<DemoTenant, number>>;

export const CALM: Rates = { acme: 3, globex: 5, initech: 1 };

const TICK_MS = 50;

/** Steady calls of several tenants, open loop, until it is stopped. */
export interface SteadyTraffic {
  /** Sends no more, and resolves with every call once the last has ended. */
  stop(): Promise<CallResult[]>;
}

export function startTraffic(stack: StackFile, rates: Rates = CALM): SteadyTraffic {
  const pool = new Pool(stack.services.gateway.url, { connections: 128 });
  const calls: Promise<CallResult>[] = [];
  const tenants = (Object.entries(rates) as [DemoTenant, number][]).map(([tenant, rate]) => ({
    tenant,
    rate,
    sent: 0,
  }));
  const startedMs = performance.now();
  const timer = setInterval(() => {
    const seconds = (performance.now() - startedMs) / 1000;
    for (const one of tenants) {
      const shape = STEADY[one.tenant];
      for (; one.sent < seconds * one.rate; one.sent += 1)
        calls.push(sendCall(pool, { key: stack.keys[shape.workspace] ?? '', ...shape.call(one.sent) }));
    }
  }, TICK_MS);
  return {
    async stop() {
      clearInterval(timer);
      const results = await Promise.all(calls);
      await pool.close();
      return results;
    },
  };
}
