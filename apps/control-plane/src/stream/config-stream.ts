import type { Response } from 'express';
import type { ChaosOrder, ConfigPatch, ConfigSnapshot, ConfigStreamEvent } from '@sluice/contracts';
import { ProblemError, snapshotFrame, sseFrame, sseStream, type SseStream } from '@sluice/service-kit';
import type { ConfigStore } from '../config/config-store.ts';

/** Up to where the ledger holds everything of a gateway's epoch. */
export interface Watermark {
  readonly gateway_id: string;
  readonly epoch: number;
  readonly sequence: number;
}

/** A gateway as it presents itself. */
export interface StreamingGateway {
  readonly id: string;
  /** Undefined for one that does not say; it is not checked against others. */
  readonly cell: string | undefined;
  readonly store: 'memory' | 'valkey';
}

/**
 * Sends the configuration to gateways: a snapshot or the missing patches, then every patch as it is made. A gateway
 * that does not read is dropped by the stream and comes back by itself; it never holds up another.
 */
export interface ConfigStream {
  /**
   * Serves one gateway until it goes away. `since` is the version that it has; 0 for none. The same gateway may come
   * again while its last connection is not known to be dead.
   *
   * @throws ProblemError 503 while there is no configuration; 409 when another gateway serves the cell and one of the
   *   two counts in its own memory, because each would admit the whole of every limit.
   */
  serve(res: Response, gateway: StreamingGateway, since: number): void;
  /** Serves one that only reads the configuration and is no gateway; otherwise as `serve`. */
  follow(res: Response, since: number): void;
  /** Sends watermarks that moved, and every fifth time a ping; called each second. */
  beat(watermarks: readonly Watermark[]): void;
  /** Ids of the gateways that are connected. */
  readonly connected: readonly string[];
  /** Ends the streams of one gateway, or all, and refuses new ones until it is mended. A chaos hook. */
  cut(gatewayId?: string): void;
  /** Lets one gateway, or all, connect again. */
  mend(gatewayId?: string): void;
  /** Orders a gateway, or all, to break something of its own; it obeys only where chaos is enabled. */
  order(order: ChaosOrder, gatewayId?: string): void;
  close(): void;
}

const BEATS_PER_PING = 5;

interface Subscriber {
  readonly gateway: StreamingGateway;
  readonly sse: SseStream;
  /** Epoch → sequence that was sent last. */
  readonly watermarks: Map<number, number>;
}

export function createConfigStream(deps: { store: ConfigStore }): ConfigStream {
  const subscribers = new Set<Subscriber>();
  const followers = new Set<SseStream>();
  const cutGateways = new Set<string>();
  let allCut = false;
  let beats = 0;
  let whole: Buffer | undefined;

  const unsubscribe = deps.store.subscribe((patch: ConfigPatch) => {
    whole = undefined;
    const frame = sseFrame('patch', JSON.stringify(patch));
    for (const { sse } of subscribers) sse.sendFrame(frame);
    for (const sse of followers) sse.sendFrame(frame);
  });

  /** Made once for all gateways that ask for it between two changes, as after a restart of the control plane. */
  function wholeFrame(snapshot: ConfigSnapshot): Buffer {
    whole ??= snapshotFrame(snapshot);
    return whole;
  }

  function sendConfiguration(sse: SseStream, snapshot: ConfigSnapshot, since: number): void {
    const missing = deps.store.patchesSince(since);
    if (missing === undefined) sse.sendFrame(wholeFrame(snapshot));
    else for (const patch of missing) send(sse, { event: 'patch', data: patch });
    send(sse, { event: 'ping', data: { version: snapshot.version } });
  }

  function sendWatermarks({ gateway, sse, watermarks: sent }: Subscriber, marks: readonly Watermark[]): void {
    for (const { gateway_id, epoch, sequence } of marks) {
      if (gateway_id !== gateway.id || sent.get(epoch) === sequence) continue;
      sent.set(epoch, sequence);
      send(sse, { event: 'watermark', data: { gateway_id, epoch, sequence } });
    }
  }

  function refuseSecond({ id, cell, store }: StreamingGateway): void {
    if (cell === undefined) return;
    for (const { gateway: other } of subscribers) {
      if (other.cell !== cell || other.id === id || (store === 'valkey' && other.store === 'valkey')) continue;
      throw new ProblemError(409, 'The cell has a gateway already', {
        detail:
          `Gateway ${other.id} serves cell ${cell} and ${other.store === 'memory' ? 'it' : `gateway ${id}`} counts limits in its own memory, so two would admit twice of every limit. ` +
          `Stop ${other.id}, give ${id} another cell (SLUICE_CELL_ID), or let both count in the shared store.`,
      });
    }
  }

  return {
    serve: (res, gateway, since) => {
      if (allCut || cutGateways.has(gateway.id))
        throw new ProblemError(503, 'The configuration stream is cut on purpose');
      const snapshot = deps.store.snapshot();
      refuseSecond(gateway);
      const sse = sseStream(res);
      const subscriber: Subscriber = { gateway, sse, watermarks: new Map() };
      subscribers.add(subscriber);
      sse.onClose(() => subscribers.delete(subscriber));
      sendConfiguration(sse, snapshot, since);
    },
    follow: (res, since) => {
      const snapshot = deps.store.snapshot();
      const sse = sseStream(res);
      followers.add(sse);
      sse.onClose(() => followers.delete(sse));
      sendConfiguration(sse, snapshot, since);
    },
    beat: (watermarks) => {
      beats += 1;
      if (beats % BEATS_PER_PING === 0)
        for (const sse of followers) send(sse, { event: 'ping', data: { version: deps.store.version } });
      for (const subscriber of subscribers) {
        sendWatermarks(subscriber, watermarks);
        if (beats % BEATS_PER_PING === 0)
          send(subscriber.sse, { event: 'ping', data: { version: deps.store.version } });
      }
    },
    get connected() {
      return [...subscribers].map((subscriber) => subscriber.gateway.id);
    },
    cut: (gatewayId) => {
      if (gatewayId === undefined) allCut = true;
      else cutGateways.add(gatewayId);
      for (const subscriber of [...subscribers])
        if (gatewayId === undefined || subscriber.gateway.id === gatewayId) subscriber.sse.close();
    },
    mend: (gatewayId) => {
      if (gatewayId !== undefined) cutGateways.delete(gatewayId);
      else {
        allCut = false;
        cutGateways.clear();
      }
    },
    order: (order, gatewayId) => {
      for (const { gateway, sse } of subscribers)
        if (gatewayId === undefined || gateway.id === gatewayId) send(sse, { event: 'chaos', data: order });
    },
    close: () => {
      unsubscribe();
      for (const { sse } of [...subscribers]) sse.close();
      for (const sse of [...followers]) sse.close();
    },
  };
}

function send(sse: SseStream, { event, data }: ConfigStreamEvent): void {
  sse.send(event, data);
}
