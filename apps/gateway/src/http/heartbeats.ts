/** A stream that wants to be kept alive while it is silent. */
export interface SilentStream {
  /** Called once per tick; `true` when nothing was written since the last one. */
  takeSilence(): boolean;
  /** Writes a heartbeat, if one fits in at this point. */
  beat(): void;
  silentTicks: number;
}

/**
 * One ticker for the heartbeats of all streams: a written chunk only sets a flag, and nobody owns a timer. A heartbeat
 * comes between `heartbeatMs` and one tick more after the last byte.
 */
export interface Heartbeats {
  add(stream: SilentStream): void;
  remove(stream: SilentStream): void;
  /** Streams that are watched now. */
  readonly size: number;
  /** Lets one tick pass; the timer calls it. */
  tick(): void;
  close(): void;
}

export function createHeartbeats({
  heartbeatMs = 10_000,
  tickMs = 1_000,
}: { heartbeatMs?: number; tickMs?: number } = {}): Heartbeats {
  const streams = new Set<SilentStream>();
  const ticksOfSilence = Math.max(1, Math.ceil(heartbeatMs / tickMs));
  let timer: NodeJS.Timeout | undefined;

  const heartbeats: Heartbeats = {
    get size() {
      return streams.size;
    },
    add(stream) {
      streams.add(stream);
      timer ??= setInterval(heartbeats.tick, tickMs).unref();
    },
    remove(stream) {
      streams.delete(stream);
      if (streams.size === 0) heartbeats.close();
    },
    tick() {
      for (const stream of streams) {
        stream.silentTicks = stream.takeSilence() ? stream.silentTicks + 1 : 0;
        if (stream.silentTicks < ticksOfSilence) continue;
        stream.silentTicks = 0;
        stream.beat();
      }
    },
    close() {
      clearInterval(timer);
      timer = undefined;
    },
  };
  return heartbeats;
}
