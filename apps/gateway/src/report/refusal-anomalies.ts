import {
  EVENT_SCHEMA,
  type Anomaly,
  type AnomalyType,
  type Clock,
  type EventPublisher,
  type Outcome,
  type Refusal,
} from '@sluice/contracts';

/** A call that was refused. Tenant and workspace are absent while nobody knows whose it is. */
export interface RefusedCall {
  readonly outcome: Outcome;
  readonly requestId: string;
  readonly tenant: string | undefined;
  readonly workspace: string | undefined;
  readonly limit: Refusal['limit'];
}

/**
 * Refusals of one second, workspace, kind and limit become one anomaly with a count, so that a flood is no flood of
 * events.
 */
export interface RefusalAnomalies {
  record(call: RefusedCall): void;
  /** Publishes what has been gathered; never throws. */
  flush(): Promise<void>;
  /** Anomalies that could not be published or gathered. */
  readonly dropped: number;
  start(): void;
  close(): Promise<void>;
}

export interface RefusalAnomaliesDeps {
  readonly gatewayId: string;
  readonly cellId: string;
  readonly publisher: EventPublisher;
  readonly clock: Clock;
}

const TYPE: Partial<Record<Outcome, AnomalyType>> = {
  throttled: 'refusals.throttled',
  shed: 'refusals.shed',
  quota: 'refusals.quota',
  unauthenticated: 'refusals.unauthenticated',
  client_error: 'refusals.client_error',
};
const WORD: Partial<Record<Outcome, string>> = {
  throttled: 'throttled',
  shed: 'shed',
  quota: 'refused for quota',
  unauthenticated: 'refused for want of a valid key',
};
const MAX_GROUPS = 1_000;
const MAX_SAMPLES = 5;
const FLUSH_MS = 1_000;

interface Group {
  readonly type: AnomalyType;
  readonly second: number;
  readonly call: RefusedCall;
  readonly samples: string[];
  count: number;
}

export function createRefusalAnomalies({
  gatewayId,
  cellId,
  publisher,
  clock,
}: RefusalAnomaliesDeps): RefusalAnomalies {
  let groups = new Map<string, Group>();
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;

  function toAnomaly(id: string, { type, second, call, samples, count }: Group): Anomaly {
    const subject = call.limit === undefined ? call.outcome : `${call.limit.level} ${call.limit.name}`;
    const whose = call.workspace === undefined ? '' : ` of workspace ${call.workspace}`;
    const by = call.limit === undefined ? '' : ` by the limit '${call.limit.name}' of its ${call.limit.level}`;
    return {
      schema: EVENT_SCHEMA,
      event_id: `${gatewayId}.${id}`.slice(0, 200),
      occurred_at: new Date(second * 1000).toISOString(),
      type,
      gateway_id: gatewayId,
      cell_id: cellId,
      ...(call.tenant === undefined ? {} : { tenant_id: call.tenant }),
      ...(call.workspace === undefined ? {} : { workspace: call.workspace }),
      count,
      subject,
      ...(call.limit === undefined ? {} : { level: call.limit.level }),
      message: `${count} ${count === 1 ? 'request' : 'requests'}${whose} ${count === 1 ? 'was' : 'were'} ${WORD[call.outcome] ?? 'refused'} in one second${by}.`,
      samples,
    };
  }

  const anomalies: RefusalAnomalies = {
    get dropped() {
      return dropped;
    },
    record(call) {
      const type = TYPE[call.outcome];
      if (type === undefined) return;
      const second = Math.floor(clock.now() / 1000);
      const id = `${second}.${type}.${call.workspace ?? '-'}.${call.limit === undefined ? '-' : `${call.limit.level}.${call.limit.name}`}`;
      const group = groups.get(id);
      if (group !== undefined) {
        group.count += 1;
        if (group.samples.length < MAX_SAMPLES) group.samples.push(call.requestId);
      } else if (groups.size < MAX_GROUPS) {
        groups.set(id, { type, second, call, samples: [call.requestId], count: 1 });
      } else {
        dropped += 1;
      }
    },
    async flush() {
      const second = Math.floor(clock.now() / 1000);
      const finished = [...groups].filter(([, group]) => group.second < second);
      if (finished.length === 0) return;
      groups = new Map([...groups].filter(([, group]) => group.second >= second));
      const events = finished.map(([id, group]) => {
        const anomaly = toAnomaly(id, group);
        const attributes: Record<string, string> = { type: anomaly.type };
        if (anomaly.tenant_id !== undefined) attributes.tenant_id = anomaly.tenant_id;
        return { id: anomaly.event_id, topic: 'anomaly-events' as const, body: JSON.stringify(anomaly), attributes };
      });
      try {
        dropped += (await publisher.publish(events)).length;
      } catch {
        dropped += events.length;
      }
    },
    start() {
      timer ??= setInterval(() => void anomalies.flush(), FLUSH_MS).unref();
    },
    async close() {
      clearInterval(timer);
      await anomalies.flush();
    },
  };
  return anomalies;
}
