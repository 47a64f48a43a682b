import type { FoundAnomaly } from './publish-anomaly.ts';

/** Records that wait this long for the ledger are told. */
const OUTBOX_AGE_MS = 60_000;
/** A configuration this old is told; while the stream is connected it is seconds old at most. */
const SNAPSHOT_AGE_MS = 30_000;

export interface HealthFigures {
  readonly gatewayId: string;
  readonly outboxOldestAgeMs: number;
  readonly outboxPending: number;
  readonly outboxAccepting: boolean;
  readonly configAgeMs: number;
}

/**
 * Tells once when records age in the outbox, when it is full, and when the configuration ages; again only after the
 * fault was gone. Called each second.
 */
export function createHealthAnomalies(publish: (anomaly: FoundAnomaly) => void): (figures: HealthFigures) => void {
  const told = new Set<string>();

  function tell(type: FoundAnomaly['type'], wrong: boolean, subject: string, message: () => string): void {
    if (!wrong) told.delete(type);
    else if (!told.has(type)) {
      told.add(type);
      publish({ type, subject, message: message(), samples: [] });
    }
  }

  return ({ gatewayId, outboxOldestAgeMs, outboxPending, outboxAccepting, configAgeMs }) => {
    const seconds = (ms: number): number => Math.round(ms / 1000);
    tell(
      'outbox.ageing',
      outboxOldestAgeMs > OUTBOX_AGE_MS,
      gatewayId,
      () =>
        `${outboxPending} records of gateway ${gatewayId} wait for the ledger, the oldest for ${seconds(outboxOldestAgeMs)} s.`,
    );
    tell(
      'outbox.full',
      !outboxAccepting,
      gatewayId,
      () =>
        `The outbox of gateway ${gatewayId} is full: new calls are refused until the ledger has taken records over.`,
    );
    tell(
      'snapshot.ageing',
      configAgeMs > SNAPSHOT_AGE_MS,
      gatewayId,
      () =>
        `Gateway ${gatewayId} serves by a configuration that is ${seconds(configAgeMs)} s old: it does not hear the control plane.`,
    );
  };
}
