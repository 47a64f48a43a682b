/** Default network ports; `SLUICE_PORT_BASE=n` adds n to every one of them. */
export const DEFAULT_PORTS = {
  edge: 8000,
  gateway: 8080,
  gatewayAdmin: 8081,
  router: 8090,
  routerAdmin: 8091,
  console: 5174,
  consoleBff: 8788,
  consoleBffAdmin: 8789,
  controlPlane: 9090,
  controlPlaneAdmin: 9091,
  simControl: 9100,
  simPrimary: 9101,
  simSecondary: 9102,
  simTertiary: 9103,
  prometheus: 9464,
  grafana: 3000,
  spine: 4566,
  valkey: 6379,
  postgres: 55432,
} as const;

/** The bounds of `SLUICE_PORT_BASE` within which every port exists. */
export const HIGHEST_PORT_BASE = 65_535 - Math.max(...Object.values(DEFAULT_PORTS));
export const LOWEST_PORT_BASE = 1 - Math.min(...Object.values(DEFAULT_PORTS));

export type PortName = keyof typeof DEFAULT_PORTS;

/**
 * The ports of one stack.
 *
 * @param base added to every default; an integer such that every port stays between 1 and 65535.
 * @throws RangeError when a port would leave that range.
 */
export function portsFrom(base: number): Record<PortName, number> {
  if (!Number.isInteger(base)) throw new RangeError(`SLUICE_PORT_BASE must be a whole number, got ${base}`);
  const out = {} as Record<PortName, number>;
  for (const [name, port] of Object.entries(DEFAULT_PORTS) as [PortName, number][]) {
    const shifted = port + base;
    if (shifted < 1 || shifted > 65535)
      throw new RangeError(
        `SLUICE_PORT_BASE=${base} puts ${name} on port ${shifted}, outside 1-65535; the largest that works is ${HIGHEST_PORT_BASE}, the least ${LOWEST_PORT_BASE}`,
      );
    out[name] = shifted;
  }
  return out;
}
