/**
 * The first header that may be sent once and was sent twice, in lower case. `node:http` keeps one of the two in
 * silence, and a proxy before us may have kept the other.
 *
 * @param rawHeaders names and values in turn.
 */
export function duplicateHeader(rawHeaders: readonly string[]): string | undefined {
  let seen = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    const bit = bitOf(name);
    if (bit === 0) continue;
    if ((seen & bit) !== 0) return name.toLowerCase();
    seen |= bit;
  }
  return undefined;
}

/** Lengths first: almost every header is out by that, without a copy in lower case. */
function bitOf(name: string): number {
  switch (name.length) {
    case 4:
      return name.toLowerCase() === 'host' ? 1 : 0;
    case 9:
      return name.toLowerCase() === 'x-api-key' ? 2 : 0;
    case 13:
      return name.toLowerCase() === 'authorization' ? 4 : 0;
    case 14:
      return name.toLowerCase() === 'content-length' ? 8 : 0;
    default:
      return 0;
  }
}
