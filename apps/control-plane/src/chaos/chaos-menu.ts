import type { ChaosMenuItem, ConfigSnapshot } from '@sluice/contracts';
import {
  expectBrokenConsumer,
  expectClockStep,
  expectCutStream,
  expectFlood,
  expectFullDisk,
  expectKilledGateway,
  expectLostStore,
  expectPoison,
  expectProviderFault,
  type Expectation,
} from './expectations.ts';
import { describe } from './observe.ts';

export interface ChaosMenuDeps {
  readonly config: Pick<ConfigSnapshot, 'tenants' | 'providers'>;
  /** Gateways that follow the configuration stream. */
  readonly gateways: readonly string[];
  /** Whether a demo key of the tenant is known, by which it can be flooded. */
  readonly canFlood: (tenant: string) => boolean;
  readonly hasSharedStore: boolean;
}

/** Where the wall clock is set to, and for how long. */
const CLOCK_STEP_MS = 3_600_000;
/** Added before a slow provider's first byte. */
export const SLOW_MS = 3_000;

const FAULTS = [
  { kind: 'down', label: 'kill', does: 'closes every connection', seconds: 30, body: {} },
  {
    kind: 'slow',
    label: 'slow',
    does: `answers ${SLOW_MS / 1000} s later`,
    seconds: 30,
    body: { latency_ms: SLOW_MS },
  },
  { kind: 'rate_limit', label: 'rate-limit', does: 'answers 429', seconds: 30, body: { retry_after_s: 2 } },
  { kind: 'error', label: 'error', does: 'answers 500', seconds: 30, body: {} },
  { kind: 'cut_stream', label: 'cut streams', does: 'ends each stream in its middle', seconds: 30, body: {} },
  { kind: 'stall', label: 'stall', does: 'falls silent in mid-stream', seconds: 30, body: {} },
] as const;

/** Every failure that can be started, with what to expect of it. */
export function chaosMenu({ config, gateways, canFlood, hasSharedStore }: ChaosMenuDeps): ChaosMenuItem[] {
  const gateway = gateways[0];
  const noGateway = gateway === undefined ? { unavailable: 'no gateway is connected' } : {};
  const named = gateway === undefined ? {} : { gateway };
  const who = gateway ?? 'the gateway';
  return [
    ...Object.values(config.tenants).map(({ id }) =>
      item(
        {
          id: `flood-${id}`,
          group: 'load',
          label: `${id} · 120/s`,
          does: `sends 120 calls a second in the name of ${id} for 20 s`,
          path: 'flood',
          body: { tenant: id, rps: 120, seconds: 20 },
        },
        expectFlood(id),
        canFlood(id) ? {} : { unavailable: 'no demo key of it is known here' },
      ),
    ),
    ...[...Object.keys(config.providers), 'all'].flatMap((provider) =>
      FAULTS.filter(({ kind }) => provider !== 'all' || kind === 'down').map(({ kind, label, does, seconds, body }) =>
        item(
          {
            id: `${kind}-${provider}`,
            group: 'provider',
            label: `${label} ${provider}`,
            does: `${provider === 'all' ? 'every provider' : provider} ${does} for ${seconds} s`,
            path: 'provider',
            body: { provider, kind, seconds, ...body },
          },
          expectProviderFault(kind, provider, SLOW_MS),
        ),
      ),
    ),
    item(
      {
        id: 'gateway-kill',
        group: 'gateway',
        label: `kill ${who}`,
        does: `kills ${who} without warning; its supervisor starts it again`,
        path: 'gateway',
        body: named,
      },
      expectKilledGateway(who),
      noGateway,
    ),
    item(
      {
        id: 'stream-cut',
        group: 'gateway',
        label: 'cut configuration',
        does: 'cuts the configuration stream of every gateway for 20 s',
        path: 'stream',
        body: { seconds: 20 },
      },
      expectCutStream('all'),
      noGateway,
    ),
    item(
      {
        id: 'clock-step',
        group: 'gateway',
        label: 'clock + 1 h',
        does: `sets the wall clock of ${who} an hour ahead for 15 s`,
        path: 'clock',
        body: { ...named, offset_ms: CLOCK_STEP_MS, seconds: 15 },
      },
      expectClockStep(who, CLOCK_STEP_MS),
      noGateway,
    ),
    item(
      {
        id: 'disk-full',
        group: 'gateway',
        label: 'disk full',
        does: `lets the disk of ${who}'s outbox be full for 10 s`,
        path: 'disk',
        body: { ...named, seconds: 10 },
      },
      expectFullDisk(who),
      noGateway,
    ),
    item(
      {
        id: 'valkey-cut',
        group: 'gateway',
        label: 'cut Valkey',
        does: 'lets the shared limit store not answer for 20 s',
        path: 'valkey',
        body: { seconds: 20 },
      },
      expectLostStore(),
      hasSharedStore ? {} : { unavailable: 'limits are counted in the memory of the gateway here' },
    ),
    ...(['audit', 'metering', 'anomaly'] as const).map((consumer) =>
      item(
        {
          id: `consumer-${consumer}`,
          group: 'spine',
          label: `break ${consumer}`,
          does: `lets the ${consumer} consumer fail every delivery for 30 s`,
          path: 'consumer',
          body: { consumer, broken: true, seconds: 30 },
        },
        expectBrokenConsumer(consumer),
      ),
    ),
    item(
      {
        id: 'poison-audit',
        group: 'spine',
        label: 'poison audit',
        does: 'sends a dozen hostile messages to the audit queue',
        path: 'poison',
        body: { queue: 'audit' },
      },
      expectPoison('audit'),
    ),
  ];
}

function item(
  base: Omit<ChaosMenuItem, 'expects' | 'unavailable'>,
  expectations: readonly Expectation[],
  availability: { unavailable?: string } = {},
): ChaosMenuItem {
  return {
    ...base,
    path: `/api/chaos/${base.path}`,
    expects: expectations.map((expectation) =>
      expectation.phase === 'after' ? `then: ${describe(expectation)}` : describe(expectation),
    ),
    ...availability,
  };
}
