import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

const PRIVATE = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  PRIVATE.addSubnet(net, bits, 'ipv4');
// Within the global unicast range: documentation, Teredo and 6to4, which carry other addresses inside.
for (const [net, bits] of [
  ['2001::', 32],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  PRIVATE.addSubnet(net, bits, 'ipv6');
const GLOBAL_UNICAST = new BlockList();
GLOBAL_UNICAST.addSubnet('2000::', 3, 'ipv6');

/** Whether an address is one of the public internet. Mapped, translated, link-local and unique local ones are not. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !PRIVATE.check(address, 'ipv4');
  return (
    version === 6 && !address.includes('%') && GLOBAL_UNICAST.check(address, 'ipv6') && !PRIVATE.check(address, 'ipv6')
  );
}

const isLoopback = (address: string): boolean =>
  address === '::1' || (isIP(address) === 4 && address.startsWith('127.'));

export type Resolve = (host: string) => Promise<readonly string[]>;

/** Addresses of a host name as the system resolves it. */
export const resolveHost: Resolve = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

export type Target = { readonly address: string } | { readonly refused: string };

/**
 * The address that a webhook may be sent to. Every address of the name must be public: one private one among them
 * is enough to refuse it. The caller connects to the address that comes out, so that a second look-up cannot give
 * another.
 *
 * @param allowLoopback for tests and demos: also this machine, and plain http.
 */
export async function checkTarget(
  url: URL,
  { resolve, allowLoopback }: { resolve: Resolve; allowLoopback: boolean },
): Promise<Target> {
  if (url.username !== '' || url.password !== '') return { refused: 'must not hold a user name or password' };
  if (url.protocol !== 'https:' && !(allowLoopback && url.protocol === 'http:'))
    return { refused: 'must begin with https://' };
  const host = url.hostname.replace(/^\[|\]$/g, '');
  let addresses: readonly string[];
  try {
    addresses = isIP(host) === 0 ? await resolve(host) : [host];
  } catch {
    return { refused: 'names a host that cannot be found' };
  }
  const [first] = addresses;
  if (first === undefined) return { refused: 'names a host that cannot be found' };
  const open = (address: string): boolean => isPublicAddress(address) || (allowLoopback && isLoopback(address));
  return addresses.every(open)
    ? { address: first }
    : { refused: 'leads to a private address; webhooks go to public addresses only' };
}
