import { EVENT_SCHEMA, type AuditEvent, type Clock, type EventPublisher, type Refusal } from '@sluice/contracts';
import type { CompiledKey } from '../compiled-config.ts';

/** A key that was presented and refused. Of the key only its id is known here, never its secret. */
export interface RefusedKey {
  readonly keyId: string;
  /** The key of that id; undefined when there is none. */
  readonly key: CompiledKey | undefined;
  readonly code: Refusal['code'];
  readonly address: string | undefined;
}

/**
 * Refused keys of one second and workspace become one audit event `key.refused`, so that guessing is no flood of
 * events.
 */
export interface KeyRefusals {
  record(refused: RefusedKey): void;
  /** Publishes the seconds that are over; never throws. */
  flush(): Promise<void>;
  /** Audit events that could not be published. */
  readonly dropped: number;
  start(): void;
  close(): Promise<void>;
}

export interface KeyRefusalsDeps {
  readonly gatewayId: string;
  readonly epoch: () => number;
  readonly publisher: Pick<EventPublisher, 'publish'>;
  readonly clock: Pick<Clock, 'now'>;
}

const MAX_SAMPLES = 5;
const FLUSH_MS = 1_000;

interface Group {
  readonly second: number;
  readonly key: CompiledKey | undefined;
  readonly reasons: Map<string, number>;
  readonly keyIds: Set<string>;
  readonly addresses: Set<string>;
  count: number;
}

/** Groups are bounded by the workspaces that exist: every unknown key falls into one. */
export function createKeyRefusals({ gatewayId, epoch, publisher, clock }: KeyRefusalsDeps): KeyRefusals {
  let groups = new Map<string, Group>();
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;

  function reasonOf({ key, code }: RefusedKey, nowMs: number): string {
    if (code !== 'unauthenticated') return code;
    if (key === undefined) return 'unknown_key';
    return key.expiresAtMs <= nowMs ? 'expired' : 'wrong_secret';
  }

  function toEvent(id: string, { second, key, reasons, keyIds, addresses, count }: Group): AuditEvent {
    const [keyId = 'unknown'] = keyIds;
    const [address] = addresses;
    return {
      schema: EVENT_SCHEMA,
      event_id: `${gatewayId}.${epoch()}.key.refused.${id}`.slice(0, 200),
      occurred_at: new Date(second * 1000).toISOString(),
      type: 'key.refused',
      actor: {
        kind: key === undefined ? 'anonymous' : 'api_key',
        id: keyId,
        ...(address === undefined ? {} : { address }),
      },
      target: { kind: 'keys', id: keyId },
      ...(key === undefined ? {} : { tenant_id: key.workspace.tenant.id, workspace: key.workspace.workspace.slug }),
      after: { count, reasons: Object.fromEntries(reasons), key_ids: [...keyIds], addresses: [...addresses] },
    };
  }

  const refusals: KeyRefusals = {
    get dropped() {
      return dropped;
    },
    record(refused) {
      const nowMs = clock.now();
      const second = Math.floor(nowMs / 1000);
      const id = `${second}.${refused.key?.workspace.workspace.slug ?? '-'}`;
      let group = groups.get(id);
      if (group === undefined)
        groups.set(
          id,
          (group = { second, key: refused.key, reasons: new Map(), keyIds: new Set(), addresses: new Set(), count: 0 }),
        );
      const reason = reasonOf(refused, nowMs);
      group.count += 1;
      group.reasons.set(reason, (group.reasons.get(reason) ?? 0) + 1);
      if (group.keyIds.size < MAX_SAMPLES) group.keyIds.add(refused.keyId);
      if (refused.address !== undefined && group.addresses.size < MAX_SAMPLES)
        group.addresses.add(refused.address.slice(0, 64));
    },
    async flush() {
      const second = Math.floor(clock.now() / 1000);
      const finished = [...groups].filter(([, group]) => group.second < second);
      if (finished.length === 0) return;
      groups = new Map([...groups].filter(([, group]) => group.second >= second));
      const events = finished.map(([id, group]) => {
        const event = toEvent(id, group);
        const attributes = {
          type: event.type,
          ...(event.tenant_id === undefined ? {} : { tenant_id: event.tenant_id }),
        };
        return { id: event.event_id, topic: 'audit-events' as const, body: JSON.stringify(event), attributes };
      });
      try {
        dropped += (await publisher.publish(events)).length;
      } catch {
        dropped += events.length;
      }
    },
    start() {
      timer ??= setInterval(() => void refusals.flush(), FLUSH_MS).unref();
    },
    async close() {
      clearInterval(timer);
      await refusals.flush();
    },
  };
  return refusals;
}
