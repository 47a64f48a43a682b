/** Groups of an IPv6 address that name a network: whoever has one address has all of it. */
const NETWORK_GROUPS = 4;

/** The network that an address stands for: an IPv4 address itself, the /64 of an IPv6 address. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const bare = address.split('%', 1)[0] as string;
  const mapped = bare.lastIndexOf(':') + 1;
  if (bare.includes('.')) return bare.slice(mapped);
  const [front = '', back] = bare.split('::', 2);
  const groups = front === '' ? [] : front.split(':');
  const last = back === undefined || back === '' ? [] : back.split(':');
  if (back !== undefined) while (groups.length + last.length < 8) groups.push('0');
  return `${[...groups, ...last].slice(0, NETWORK_GROUPS).join(':')}::/64`;
}
