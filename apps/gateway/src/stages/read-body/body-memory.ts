const MIB = 1024 * 1024;
const DEFAULTS: BodyMemoryBounds = {
  tenantBytes: 128 * MIB,
  processBytes: 512 * MIB,
  floorBytes: 16 * MIB,
  hardBytes: 768 * MIB,
};

export interface BodyMemoryBounds {
  /** What the bodies of a tenant may take together. */
  readonly tenantBytes: number;
  /** The same for all tenants; beyond it each may keep the floor only. */
  readonly processBytes: number;
  /** What a tenant may keep also then, up to `hardBytes` of all together. */
  readonly floorBytes: number;
  /** All tenants together, however many they are: beyond it nobody's body has room. */
  readonly hardBytes: number;
}

/**
 * Bounds the memory that request bodies take, from their second read of the socket until nothing is sent again:
 * they come before every limit, a caller may take minutes for each, and a provider for its answer.
 */
export interface BodyMemory {
  /**
   * False, and nothing is taken, when there is no room for more.
   *
   * @param held what this body holds so far; a tenant's only body has room as long as all together have.
   */
  take(tenantId: string, held: number, bytes: number): boolean;
  give(tenantId: string, bytes: number): void;
}

export function createBodyMemory(bounds: Partial<BodyMemoryBounds> = {}): BodyMemory {
  const { tenantBytes, processBytes, floorBytes, hardBytes } = { ...DEFAULTS, ...bounds };
  const tenants = new Map<string, number>();
  let total = 0;

  function change(tenantId: string, now: number, by: number): void {
    total += by;
    if (now + by === 0) tenants.delete(tenantId);
    else tenants.set(tenantId, now + by);
  }

  return {
    take(tenantId, held, bytes) {
      const now = tenants.get(tenantId) ?? 0;
      const after = now + bytes;
      const full = after > tenantBytes || (total + bytes > processBytes && after > floorBytes);
      if ((full && now > held) || total + bytes > hardBytes) return false;
      change(tenantId, now, bytes);
      return true;
    },
    give(tenantId, bytes) {
      if (bytes > 0) change(tenantId, tenants.get(tenantId) ?? 0, -bytes);
    },
  };
}
