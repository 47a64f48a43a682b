const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;
const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const;

/** A browser's header as people call it: `Firefox on Linux`; what is no known browser stays as it is. */
export function programInWords(agent: string | null): string {
  if (agent === null || agent === '') return 'unknown program';
  const browser = BROWSERS.find(([mark]) => agent.includes(mark))?.[1];
  if (browser === undefined) return agent;
  const system = SYSTEMS.find(([mark]) => agent.includes(mark))?.[1];
  return system === undefined ? browser : `${browser} on ${system}`;
}
