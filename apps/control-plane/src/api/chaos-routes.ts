import { z } from 'zod';
import { ChaosConsumer, ChaosFlood, ChaosMenuItem, ChaosProvider, type ConfigSnapshot } from '@sluice/contracts';
import type { ChaosActions } from '../chaos/chaos-actions.ts';
import type { RunningChaos } from '../chaos/running-chaos.ts';
import { chaosMenu, SLOW_MS } from '../chaos/chaos-menu.ts';
import { expectBrokenConsumer, expectFlood, expectProviderFault } from '../chaos/expectations.ts';
import type { Flood } from '../chaos/flood.ts';
import type { SimControl } from '../chaos/sim-control.ts';
import { actorOf } from './actor.ts';
import { chaosPartRoutes, type ChaosPartDeps } from './chaos-part-routes.ts';
import { Running, unknownField, type RecordChaos } from './chaos-running.ts';
import type { AuditTrail } from './ports.ts';
import { route, type Route } from './route.ts';

/** A provider's fault lasts this long when the request does not say. */
const DEFAULT_FAULT_SECONDS = 60;

export interface ChaosRouteDeps {
  readonly actions: ChaosActions;
  readonly audit: AuditTrail;
  readonly config: () => ConfigSnapshot;
  /** Starts load in a tenant's name; undefined when no demo key of the tenant is known. */
  readonly flood: (tenant: string, rps: number) => Flood | undefined;
  /** Whether `flood` knows a demo key of the tenant. */
  readonly canFlood: (tenant: string) => boolean;
  readonly sim: SimControl;
  readonly setConsumerBroken: (consumer: ChaosConsumer['consumer'], broken: boolean) => void;
  readonly stream: ChaosPartDeps['stream'];
  readonly poison: ChaosPartDeps['poison'];
  readonly valkey?: ChaosPartDeps['valkey'];
  readonly onAuditError: (error: unknown) => void;
}

/**
 * Failures on demand: each ends by itself, is audited, and is undone by `stop`. Mounted only where chaos is
 * enabled.
 */
export function chaosRoutes(deps: ChaosRouteDeps): Route[] {
  const { actions, audit, sim } = deps;

  const record: RecordChaos = (call, type, target) =>
    audit.record({ type, actor: actorOf(call), target, ...(call.body === undefined ? {} : { after: call.body }) });

  return [
    route({
      method: 'get',
      path: '/api/chaos/menu',
      auth: 'viewer',
      tag: 'Chaos',
      summary: 'Every failure that can be started, with what to expect of it',
      response: z.array(ChaosMenuItem),
      handler: () =>
        chaosMenu({
          config: deps.config(),
          gateways: deps.stream.connected,
          canFlood: deps.canFlood,
          hasSharedStore: deps.valkey !== undefined,
        }),
    }),
    route({
      method: 'post',
      path: '/api/chaos/flood',
      auth: 'operator',
      tag: 'Chaos',
      summary: 'Send a steady load in the name of a tenant',
      status: 202,
      body: ChaosFlood,
      response: Running,
      handler: async (call): Promise<RunningChaos> => {
        const { tenant, rps, seconds } = call.body;
        if (!Object.hasOwn(deps.config().tenants, tenant)) throw unknownField('tenant', `there is no tenant ${tenant}`);
        await record(call, 'chaos.flood', { kind: 'tenant', id: tenant });
        await actions.stop('flood', tenant);
        const flood = deps.flood(tenant, rps);
        if (flood === undefined) throw unknownField('tenant', `no demo key of ${tenant} is known here`);
        return actions.start({
          kind: 'flood',
          target: tenant,
          seconds,
          undo: () => flood.stop(),
          expects: expectFlood(tenant),
        });
      },
    }),
    route({
      method: 'post',
      path: '/api/chaos/provider',
      auth: 'operator',
      tag: 'Chaos',
      summary: 'Give a simulated provider a fault',
      status: 202,
      body: ChaosProvider,
      response: Running,
      handler: async (call): Promise<RunningChaos> => {
        const { provider, ...fault } = call.body;
        const seconds = fault.seconds ?? DEFAULT_FAULT_SECONDS;
        await record(call, 'chaos.provider', { kind: 'provider', id: provider });
        const targets = provider === 'all' ? Object.keys(deps.config().providers) : [provider];
        for (const target of targets) await sim.setFault(target, { ...fault, seconds });
        const undo = async (): Promise<void> => {
          await Promise.all(targets.map((target) => sim.clearFault(target)));
        };
        return actions.start({
          kind: `provider ${fault.kind}`,
          target: provider,
          seconds,
          undo,
          expects: expectProviderFault(fault.kind, provider, fault.latency_ms ?? SLOW_MS),
        });
      },
    }),
    route({
      method: 'post',
      path: '/api/chaos/consumer',
      auth: 'operator',
      tag: 'Chaos',
      summary: 'Make a consumer fail every delivery, or mend it',
      status: 202,
      body: ChaosConsumer,
      response: Running.partial(),
      handler: async (call): Promise<RunningChaos | Record<string, never>> => {
        const { consumer, broken, seconds } = call.body;
        await record(call, 'chaos.consumer', { kind: 'consumer', id: consumer });
        if (!broken) {
          await actions.stop('consumer', consumer);
          deps.setConsumerBroken(consumer, false);
          return {};
        }
        deps.setConsumerBroken(consumer, true);
        return actions.start({
          kind: 'consumer',
          target: consumer,
          seconds,
          undo: () => deps.setConsumerBroken(consumer, false),
          expects: expectBrokenConsumer(consumer),
        });
      },
    }),
    route({
      method: 'post',
      path: '/api/chaos/stop',
      auth: 'operator',
      tag: 'Chaos',
      summary: 'Undo everything',
      response: z.object({ stopped: z.int() }),
      handler: async (call) => {
        const stopped = await actions.stop();
        for (const consumer of ChaosConsumer.shape.consumer.options) deps.setConsumerBroken(consumer, false);
        deps.stream.mend();
        deps.stream.order({ action: 'mend', what: 'all' });
        const providers = Object.keys(deps.config().providers);
        await Promise.allSettled(providers.map((provider) => sim.clearFault(provider)));
        // Undoing must work while the database is down, so here a missing record is only reported.
        record(call, 'chaos.stopped', { kind: 'chaos', id: 'all' }).catch(deps.onAuditError);
        return { stopped };
      },
    }),
    ...chaosPartRoutes({ ...deps, record }),
  ];
}
