import type { ClientResponse } from '../../http/client-response.ts';
import type { CutReason } from '../../http/cut-reason.ts';
import { MIN_BYTES_PER_SECOND } from '../../http/reader-pace.ts';

export interface UnreadBounds {
  /** What whole answers that wait for a tenant's clients may take together; twice that for a moment. */
  readonly tenantBytes: number;
  /** The same for all tenants; beyond it each has its fair share. */
  readonly processBytes: number;
  /** No tenant's fair share is less. */
  readonly floorBytes: number;
  /**
   * A client that has taken the rest within this long at its pace is spared while its tenant is not far over its
   * bound.
   */
  readonly promptMs: number;
  /** Over how long a client must keep the minimum rate while bytes wait for it. */
  readonly stallMs: number;
}

const MB = 1024 * 1024;
const DEFAULTS: UnreadBounds = {
  tenantBytes: 64 * MB,
  processBytes: 256 * MB,
  floorBytes: MB,
  promptMs: 10_000,
  stallMs: 30_000,
};
/** Of a large answer more must be taken than the minimum: all of it within this many spans of `stallMs`, 10 min. */
const MOST_STALLS = 20;
/** So many times a bound is passed by nobody, however well its clients read. */
const MOST_OVER = 2;

/** The client's end, as far as it is watched. */
type Reading = Pick<ClientResponse, 'bufferedBytes' | 'destroy'>;

/**
 * The clients that have not taken the end of their answer yet. What they keep of whole answers is bounded for each
 * tenant and for all together: while a tenant is over its bound its slowest are cut. One timer looks at all of
 * them; an answer that is taken at once never comes here.
 */
export interface UnreadAnswers {
  /**
   * Resolves with `left`, which a cut brings about too; then with why it was cut.
   *
   * @param heldBytes memory that the answer keeps until it has left, or 0 where another bound holds for it.
   */
  wait(client: Reading, left: Promise<void>, tenantId: string, heldBytes: number): Promise<CutReason | undefined>;
  /** Looks at all who wait; the timer calls it. @param nowMs monotonic. */
  tick(nowMs: number): void;
  /** Bytes of whole answers that wait for a tenant's clients. */
  bytesOf(tenantId: string): number;
}

export function createUnreadAnswers(bounds: Partial<UnreadBounds> = {}): UnreadAnswers {
  const { tenantBytes, processBytes, floorBytes, promptMs, stallMs } = { ...DEFAULTS, ...bounds };
  const tenants = new Map<string, Tenant>();
  let total = 0;
  let timer: NodeJS.Timeout | undefined;

  const enter = (waiting: Waiting): void => {
    const { tenant, heldBytes } = waiting;
    tenants.set(tenant.id, tenant);
    tenant.waiting.add(waiting);
    tenant.bytes += heldBytes;
    total += heldBytes;
    timer ??= setInterval(() => watch.tick(performance.now()), Math.min(1_000, Math.ceil(stallMs / 3))).unref();
  };

  const leave = (waiting: Waiting): void => {
    const { tenant, heldBytes } = waiting;
    if (!tenant.waiting.delete(waiting)) return;
    tenant.bytes -= heldBytes;
    total -= heldBytes;
    if (tenant.waiting.size > 0) return;
    tenants.delete(tenant.id);
    if (tenants.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  const cut = (waiting: Waiting, reason: CutReason): void => {
    waiting.cutFor = reason;
    leave(waiting);
    waiting.client.destroy();
  };

  /** Brings a tenant down to so much, by its slowest first. */
  const relieve = (tenant: Tenant, most: number, sparedMs: number, reason: CutReason): void => {
    const slowest = [...tenant.waiting]
      .filter(({ heldBytes, leftMs }) => heldBytes > 0 && leftMs > sparedMs)
      .sort((a, b) => b.leftMs - a.leftMs);
    for (const waiting of slowest) {
      if (tenant.bytes <= most) return;
      cut(waiting, reason);
    }
  };

  /** @param times of each bound that may be held. */
  const holdBounds = (times: number, sparedMs: number): void => {
    for (const tenant of tenants.values())
      if (tenant.bytes > times * tenantBytes) relieve(tenant, times * tenantBytes, sparedMs, 'tenant_unread');
    if (total <= times * processBytes) return;
    const share = fairShare(tenants.values(), times * processBytes, floorBytes);
    for (const tenant of tenants.values()) if (tenant.bytes > share) relieve(tenant, share, sparedMs, 'process_unread');
  };

  const watch: UnreadAnswers = {
    async wait(client, left, tenantId, heldBytes) {
      const waiting = new Waiting(client, tenants.get(tenantId) ?? new Tenant(tenantId), heldBytes, stallMs);
      enter(waiting);
      if (waiting.tenant.bytes > MOST_OVER * tenantBytes || total > MOST_OVER * processBytes) holdBounds(MOST_OVER, -1);
      try {
        await left;
      } finally {
        leave(waiting);
      }
      return waiting.cutFor;
    },
    tick(nowMs) {
      for (const tenant of tenants.values()) {
        for (const waiting of tenant.waiting) if (waiting.isStalled(nowMs)) cut(waiting, 'stalled');
      }
      holdBounds(1, promptMs);
    },
    bytesOf: (tenantId) => tenants.get(tenantId)?.bytes ?? 0,
  };
  return watch;
}

/**
 * What each tenant may hold when all of them together may hold so much: who holds less than that is not concerned
 * (max-min fairness).
 */
function fairShare(tenants: Iterable<Tenant>, mostBytes: number, floorBytes: number): number {
  const held = Array.from(tenants, ({ bytes }) => bytes).sort((a, b) => a - b);
  let free = mostBytes;
  for (let i = 0; i < held.length; i += 1) {
    const share = free / (held.length - i);
    const bytes = held[i] as number;
    if (bytes > share) return Math.max(floorBytes, share);
    free -= bytes;
  }
  return Infinity;
}

class Tenant {
  readonly id: string;
  readonly waiting = new Set<Waiting>();
  bytes = 0;

  constructor(id: string) {
    this.id = id;
  }
}

class Waiting {
  readonly client: Reading;
  readonly tenant: Tenant;
  readonly heldBytes: number;
  /** How long it takes for the rest at its pace, by the last two looks; 0 while that is not known. */
  leftMs = 0;
  cutFor: CutReason | undefined;
  readonly #stallMs: number;
  readonly #leastBytes: number;
  #lookedAtMs: number | undefined;
  #bytesThen: number;
  #spanStartMs = 0;
  #spanStartBytes: number;

  constructor(client: Reading, tenant: Tenant, heldBytes: number, stallMs: number) {
    const bytes = client.bufferedBytes;
    this.client = client;
    this.tenant = tenant;
    this.heldBytes = heldBytes;
    this.#stallMs = stallMs;
    this.#leastBytes = Math.max(1, (MIN_BYTES_PER_SECOND * stallMs) / 1000, bytes / MOST_STALLS);
    this.#bytesThen = bytes;
    this.#spanStartBytes = bytes;
  }

  /** Measures the pace. True when too little was taken over the last span. */
  isStalled(nowMs: number): boolean {
    const bytes = this.client.bufferedBytes;
    if (this.#lookedAtMs === undefined) this.#startSpan(bytes, nowMs);
    else this.leftMs = bytes === 0 ? 0 : (bytes / Math.max(0, this.#bytesThen - bytes)) * (nowMs - this.#lookedAtMs);
    this.#lookedAtMs = nowMs;
    this.#bytesThen = bytes;
    if (nowMs - this.#spanStartMs < this.#stallMs) return false;
    if (this.#spanStartBytes - bytes < this.#leastBytes) return true;
    this.#startSpan(bytes, nowMs);
    return false;
  }

  #startSpan(bytes: number, nowMs: number): void {
    this.#spanStartMs = nowMs;
    this.#spanStartBytes = bytes;
  }
}
