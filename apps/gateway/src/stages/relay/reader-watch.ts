import { MIN_BYTES_PER_SECOND } from '../../http/reader-pace.ts';

const DEFAULTS: ReaderLimits = {
  streamBytes: 256 * 1024,
  tenantBytes: 16 * 1024 * 1024,
  processBytes: 64 * 1024 * 1024,
  floorBytes: 16 * 1024,
  minBytesPerSecond: MIN_BYTES_PER_SECOND,
  windowMs: 30_000,
};

export interface ReaderLimits {
  /** What one stream may keep for a client that reads slower than the provider writes. */
  readonly streamBytes: number;
  /** What all streams of a tenant may keep together; beyond it each may keep the floor only. */
  readonly tenantBytes: number;
  /** The same for all tenants together. */
  readonly processBytes: number;
  /** What a stream may always keep, or one tenant's slow clients would stop its quick ones. */
  readonly floorBytes: number;
  readonly minBytesPerSecond: number;
  /** Over how long the minimum rate is judged. */
  readonly windowMs: number;
}

/** The client's end, as far as it is watched. */
interface Reading {
  readonly bufferedBytes: number;
}

/** The provider's end. */
interface Source {
  pause(): void;
  resume(): void;
}

/** One stream's reader. */
export interface WatchedReader {
  /** @param accepted what `write` answered; false means that the client is behind. */
  wrote(bytes: number, accepted: boolean): void;
  /** The client has taken everything. */
  caughtUp(): void;
  /** Nothing more comes: the reader is neither cut nor waited for here any more, but what it holds still counts. */
  upstreamEnded(): void;
}

/**
 * Bounds the memory that slow clients take and cuts those that hardly read. A stream whose client is behind goes on
 * until its buffer is full, or its tenant's budget; then the provider is paused. A stream whose client keeps up
 * costs one addition per chunk here: only those that are behind are looked at, by one timer for all.
 */
export interface ReaderWatch {
  /** @param onTooSlow called once, when the reader is below the minimum rate. */
  follow(tenantId: string, client: Reading, source: Source, onTooSlow: () => void): WatchedReader;
  /** Looks at all that are behind; the timer calls it. @param nowMs monotonic. */
  tick(nowMs: number): void;
  /** Readers that are behind. */
  readonly behind: number;
  /** Bytes that are kept for a tenant's readers, as of the last look. */
  bytesOf(tenantId: string): number;
}

export function createReaderWatch(limits: Partial<ReaderLimits> = {}): ReaderWatch {
  const bounds = { ...DEFAULTS, ...limits };
  const behind = new Set<Reader>();
  const tenants = new Map<string, number>();
  let total = 0;
  let timer: NodeJS.Timeout | undefined;

  const shared: Shared = {
    bounds,
    add(reader) {
      behind.add(reader);
      timer ??= setInterval(
        () => watch.tick(performance.now()),
        Math.min(1_000, Math.ceil(bounds.windowMs / 3)),
      ).unref();
    },
    remove(reader) {
      behind.delete(reader);
      if (behind.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    },
    account(tenantId, change) {
      total += change;
      const bytes = (tenants.get(tenantId) ?? 0) + change;
      if (bytes === 0) tenants.delete(tenantId);
      else tenants.set(tenantId, bytes);
    },
    overBudget: (tenantId) => total > bounds.processBytes || (tenants.get(tenantId) ?? 0) > bounds.tenantBytes,
  };
  const watch: ReaderWatch = {
    follow: (tenantId, client, source, onTooSlow) => new Reader(shared, tenantId, client, source, onTooSlow),
    tick(nowMs) {
      for (const reader of behind) reader.look(nowMs);
    },
    get behind() {
      return behind.size;
    },
    bytesOf: (tenantId) => tenants.get(tenantId) ?? 0,
  };
  return watch;
}

interface Shared {
  readonly bounds: ReaderLimits;
  add(reader: Reader): void;
  remove(reader: Reader): void;
  account(tenantId: string, change: number): void;
  overBudget(tenantId: string): boolean;
}

/** A class, so that its functions are made once and not per stream. */
class Reader implements WatchedReader {
  readonly #shared: Shared;
  readonly #tenantId: string;
  readonly #client: Reading;
  readonly #source: Source;
  readonly #onTooSlow: () => void;
  #forwarded = 0;
  #accounted = 0;
  #isBehind = false;
  #paused = false;
  #ended = false;
  #windowStart: number | undefined;
  #takenBefore = 0;

  constructor(shared: Shared, tenantId: string, client: Reading, source: Source, onTooSlow: () => void) {
    this.#shared = shared;
    this.#tenantId = tenantId;
    this.#client = client;
    this.#source = source;
    this.#onTooSlow = onTooSlow;
  }

  wrote(bytes: number, accepted: boolean): void {
    this.#forwarded += bytes;
    if (accepted) return;
    const buffered = this.#count();
    if (!this.#isBehind) this.#fallBehind(buffered);
    if (!this.#paused && this.#isFull(buffered)) {
      this.#paused = true;
      this.#source.pause();
    }
  }

  caughtUp(): void {
    if (!this.#isBehind) return;
    this.#isBehind = false;
    this.#account(0);
    this.#shared.remove(this);
    this.#goOn();
  }

  upstreamEnded(): void {
    this.#ended = true;
    this.#paused = false;
  }

  look(nowMs: number): void {
    const buffered = this.#count();
    if (buffered === 0) {
      this.caughtUp();
      return;
    }
    if (this.#ended) return;
    const { windowMs, minBytesPerSecond, streamBytes } = this.#shared.bounds;
    const taken = this.#forwarded - buffered;
    this.#windowStart ??= nowMs;
    if (nowMs - this.#windowStart >= windowMs) {
      if (taken - this.#takenBefore < (minBytesPerSecond * (nowMs - this.#windowStart)) / 1000) {
        this.#ended = true;
        this.#onTooSlow();
        return;
      }
      this.#windowStart = nowMs;
      this.#takenBefore = taken;
    }
    if (this.#paused && buffered <= streamBytes / 2 && !this.#isFull(buffered)) this.#goOn();
  }

  #fallBehind(buffered: number): void {
    this.#isBehind = true;
    this.#windowStart = undefined;
    this.#takenBefore = this.#forwarded - buffered;
    this.#shared.add(this);
  }

  #goOn(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#source.resume();
  }

  #isFull(buffered: number): boolean {
    const { streamBytes, floorBytes } = this.#shared.bounds;
    return buffered > streamBytes || (buffered > floorBytes && this.#shared.overBudget(this.#tenantId));
  }

  #count(): number {
    const buffered = this.#client.bufferedBytes;
    this.#account(buffered);
    return buffered;
  }

  #account(buffered: number): void {
    if (buffered === this.#accounted) return;
    this.#shared.account(this.#tenantId, buffered - this.#accounted);
    this.#accounted = buffered;
  }
}
