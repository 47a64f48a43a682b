import type { Express } from 'express';
import {
  exportTenants,
  type ChaosConsumer,
  type Clock,
  type ConfigSnapshot,
  type OperatorState,
  type PutAsideRecord,
  type StateAnomaly,
} from '@sluice/contracts';
import type { Logger, SecretBox } from '@sluice/service-kit';
import type { OperatorAccountStore, PersonAccountStore } from './accounts/account-store.ts';
import type { PoisonSender, ValkeyChaos } from './api/chaos-part-routes.ts';
import { createAuthenticate } from './api/authenticate.ts';
import type { AuditLog, AuditTrail, LedgerKeeper, LedgerReader, QueueAdmin } from './api/ports.ts';
import type { OnAnswer } from './api/mount-routes.ts';
import type { Route } from './api/route.ts';
import { createRouteTable } from './api/route-table.ts';
import { createChaosActions } from './chaos/chaos-actions.ts';
import { createChaosWatch } from './chaos/chaos-watch.ts';
import type { Flood } from './chaos/flood.ts';
import type { SimControl } from './chaos/sim-control.ts';
import type { ConfigRepository } from './config/config-repository.ts';
import { createConfigStore, type ConfigStore } from './config/config-store.ts';
import { createControlPlaneApp } from './create-control-plane-app.ts';
import { createAuditExports, type AuditExports } from './exports/audit-exports.ts';
import type { ExportSpine } from './exports/export-spine.ts';
import type { RouterClient } from './router/router-client.ts';
import { createOperatorSessions, type OperatorSessions, type SessionArchive } from './session/operator-sessions.ts';
import { createOperatorSignIn } from './session/operator-sign-in.ts';
import type { ScryptCost } from './session/password.ts';
import { createPasswordChecks } from './session/password-checks.ts';
import { createPeople, type PersonRepository } from './session/people.ts';
import type { PersonSessions } from './session/person-sessions.ts';
import { buildState, type LedgerHead } from './state/build-state.ts';
import { createGatewayReports } from './state/gateway-reports.ts';
import { createPolled } from './state/polled.ts';
import { createStateHub } from './state/state-hub.ts';
import { createTenantConsole, type TenantPorts } from './tenant/create-tenant-console.ts';
import { createTenantGate } from './tenant/tenant-gate.ts';
import { createConfigStream } from './stream/config-stream.ts';

/** Everything outside that the control plane stands on. */
export interface ControlPlanePorts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly repository: ConfigRepository;
  readonly people: PersonRepository;
  readonly router: RouterClient;
  readonly operatorAccounts: OperatorAccountStore;
  readonly personAccounts: PersonAccountStore;
  readonly sessionArchive: SessionArchive;
  /** The console's sessions of people. */
  readonly personSessions: PersonSessions;
  readonly ledger: LedgerReader;
  readonly ledgerKeeper: LedgerKeeper;
  readonly ledgerHead: () => Promise<LedgerHead>;
  readonly recentAnomalies: () => Promise<readonly StateAnomaly[]>;
  readonly audit: AuditTrail;
  readonly auditLog: AuditLog;
  readonly queues: QueueAdmin;
  /** Records that are never taken, newest first. */
  readonly putAside: (limit: number) => Promise<PutAsideRecord[]>;
  readonly exportSpine: ExportSpine;
  readonly tenant: TenantPorts;
  /** Absent where chaos is not enabled. */
  readonly chaos?: {
    readonly flood: (tenant: string, rps: number) => Flood | undefined;
    readonly canFlood: (tenant: string) => boolean;
    readonly sim: SimControl;
    readonly setConsumerBroken: (consumer: ChaosConsumer['consumer'], broken: boolean) => void;
    readonly poison: PoisonSender;
    readonly valkey?: ValkeyChaos;
  };
}

export interface ControlPlaneSettings {
  readonly operator: { readonly user: string; readonly password: string; readonly cost?: ScryptCost };
  readonly gatewayToken: string;
  /** Absent where there is no router. */
  readonly routerToken?: string | undefined;
  readonly bffToken: string;
  readonly principalKey: string;
  readonly consoleDir: string;
  /** Told of every answer of a route, for metrics. */
  readonly onAnswer?: OnAnswer | undefined;
  /** Encrypts secrets that are entered; without it secrets are references only. */
  readonly secretBox?: SecretBox | undefined;
  readonly extraHosts?: readonly string[];
  /** Proxies whose `x-forwarded-for` is believed. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** A wrong password is answered at a multiple of this, milliseconds; a second when absent. */
  readonly failureStepMs?: number;
}

export interface ControlPlane {
  readonly app: Express;
  readonly routes: readonly Route[];
  readonly store: ConfigStore;
  readonly exports: AuditExports;
  readonly sessions: OperatorSessions;
  readonly state: () => OperatorState;
  /** One second of life: reads what is polled, sends state, watermarks and pings. Never throws. */
  beat(): Promise<void>;
  close(): Promise<void>;
}

/** Between looks at the export queues; a change of the configuration is one beat away at most. */
const EXPORTS_EVERY_BEATS = 5;

/** Builds the control plane on its ports; nothing listens and no timer runs. */
export async function createControlPlane(
  ports: ControlPlanePorts,
  settings: ControlPlaneSettings,
): Promise<ControlPlane> {
  const { clock, logger, ledger, audit } = ports;
  const warn = (what: string) => (error: unknown) => logger.warn({ err: error }, what);
  const store = createConfigStore({ repository: ports.repository });
  const reports = createGatewayReports({ clock });
  const stream = createConfigStream({ store });
  const actions = createChaosActions({
    clock,
    onError: warn('a chaos action could not be undone'),
    watch: { started: (action, expects) => watch.started(action, expects), ended: (id) => watch.ended(id) },
  });
  const sessions = createOperatorSessions({
    clock,
    archive: ports.sessionArchive,
    onArchiveError: warn('operator sessions are kept in memory only'),
  });
  const queues = createPolled({
    clock,
    read: () => ports.queues.readStates(),
    onError: warn('the event spine does not answer'),
  });
  const anomalies = createPolled({
    clock,
    read: () => ports.recentAnomalies(),
    onError: warn('anomalies cannot be read'),
  });
  const ledgerHead = createPolled({
    clock,
    read: () => ports.ledgerHead(),
    onError: warn('the database does not answer'),
  });
  const watermarks = createPolled({
    clock,
    read: () => ledger.watermarks(),
    onError: warn('watermarks cannot be read'),
  });

  const config = (): ConfigSnapshot | undefined => (store.version === 0 ? undefined : store.snapshot());
  const wanted = (): string[] | undefined => (store.version === 0 ? undefined : exportTenants(store.snapshot()));
  const exports = createAuditExports({
    wanted,
    spine: ports.exportSpine,
    clock,
    audit,
    onError: warn('audit exports are not in step with the configuration'),
  });
  let exportsDue = true;
  store.subscribe(() => {
    exportsDue = true;
  });
  const build = (): OperatorState =>
    buildState({
      clock,
      config,
      reports,
      queues,
      anomalies,
      ledger: ledgerHead,
      exports,
      chaosEnabled: ports.chaos !== undefined,
      chaos: () => actions.running(),
      chaosReports: () => watch.reports(),
    });
  const watch = createChaosWatch({ clock, picture: build });
  const hub = createStateHub({ build });

  const checks = createPasswordChecks({
    clock,
    deviceKey: settings.principalKey,
    failureStepMs: settings.failureStepMs,
  });
  const people = createPeople({ repository: ports.people, checks });
  const tenant = createTenantConsole({
    ports: ports.tenant,
    store,
    ledger,
    reports,
    clock,
    people,
    masterKey: settings.principalKey,
    warn,
  });

  const routes = createRouteTable({
    store,
    ledger,
    ledgerKeeper: ports.ledgerKeeper,
    audit,
    clock,
    sessions,
    auditLog: ports.auditLog,
    router: ports.router,
    queues: ports.queues,
    putAside: ports.putAside,
    exports,
    signIn: await createOperatorSignIn({ ...settings.operator, accounts: ports.operatorAccounts, checks }),
    onAuditError: warn('an audit record could not be written'),
    state: { build, hub, sessions },
    internal: { stream, reports, store, ledger, clock },
    people,
    personSessions: ports.personSessions,
    tenant,
    passwordCost: settings.operator.cost,
    operatorAccounts: ports.operatorAccounts,
    personAccounts: ports.personAccounts,
    members: ports.tenant.members,
    reports,
    peopleOf: async (slug) =>
      (await ports.personAccounts.list({ after: undefined, limit: 101, workspace: slug })).map(({ email }) => email),
    secretBox: settings.secretBox,
    ...(ports.chaos === undefined ? {} : { chaos: { ...ports.chaos, actions, stream } }),
  });
  const authenticate = createAuthenticate({
    sessions,
    clock,
    gatewayToken: settings.gatewayToken,
    bffToken: settings.bffToken,
    routerToken: settings.routerToken,
    principalKey: settings.principalKey,
  });
  const app = createControlPlaneApp({
    logger,
    routes,
    authenticate,
    onAnswer: settings.onAnswer,
    gate: createTenantGate({ store, clock }),
    consoleDir: settings.consoleDir,
    trustedProxies: settings.trustedProxies,
    ...(settings.extraHosts === undefined ? {} : { extraHosts: settings.extraHosts }),
  });

  let beats = 0;
  return {
    app,
    routes,
    store,
    exports,
    sessions,
    state: build,
    beat: async () => {
      beats += 1;
      const polls = [anomalies.poll(), ledgerHead.poll(), watermarks.poll()];
      if (beats % 2 === 1) polls.push(queues.poll());
      if (exportsDue || beats % EXPORTS_EVERY_BEATS === 0) {
        exportsDue = false;
        polls.push(exports.reconcile());
      }
      if (store.version === 0) polls.push(store.load().catch(warn('the configuration cannot be loaded')));
      stream.beat(watermarks.value ?? []);
      if (watch.watching) watch.beat(build());
      hub.beat();
      await Promise.all(polls);
      // Slow receivers of webhooks must not hold up the picture.
      void tenant.beat();
    },
    close: async () => {
      await actions.stop();
      hub.close();
      stream.close();
    },
  };
}
