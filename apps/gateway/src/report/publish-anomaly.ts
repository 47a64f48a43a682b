import { EVENT_SCHEMA, type Anomaly, type CallStarted, type Clock, type EventPublisher } from '@sluice/contracts';

/** What is known of an anomaly where it is found; who and when is added here. */
export type FoundAnomaly = Pick<Anomaly, 'type' | 'subject' | 'message' | 'samples'> &
  Partial<Pick<Anomaly, 'level' | 'tenant_id' | 'workspace'>>;

export interface PublishAnomalyDeps {
  readonly gatewayId: string;
  readonly cellId: string;
  /** Boot epoch, part of the event's id. */
  readonly epoch: () => number;
  /** Must not throw; what it cannot take it counts as dropped. */
  readonly publisher: Pick<EventPublisher, 'publish'>;
  readonly clock: Clock;
}

/** Publishes single anomalies of this gateway; those of refusals are aggregated elsewhere. */
export function createPublishAnomaly({
  gatewayId,
  cellId,
  epoch,
  publisher,
  clock,
}: PublishAnomalyDeps): (anomaly: FoundAnomaly) => void {
  let count = 0;
  return (anomaly) => {
    count += 1;
    const event: Anomaly = {
      schema: EVENT_SCHEMA,
      event_id: `${gatewayId}.${epoch()}.anomaly.${count}`,
      occurred_at: new Date(clock.now()).toISOString(),
      gateway_id: gatewayId,
      cell_id: cellId,
      count: 1,
      ...anomaly,
    };
    const attributes = { type: event.type, ...(event.tenant_id === undefined ? {} : { tenant_id: event.tenant_id }) };
    void publisher.publish([{ id: event.event_id, topic: 'anomaly-events', body: JSON.stringify(event), attributes }]);
  };
}

/** What is told when a gateway that ended without a drain is back. */
export function restartAnomaly(
  gatewayId: string,
  interrupted: number,
  unmatched: readonly CallStarted[],
): FoundAnomaly {
  return {
    type: 'gateway.restarted',
    subject: gatewayId,
    message: `Gateway ${gatewayId} restarted; ${interrupted} ${interrupted === 1 ? 'call was' : 'calls were'} interrupted.`,
    samples: unmatched.slice(0, 5).map((started) => started.request_id),
  };
}
