import { BlockList, isIP } from 'node:net';

const EVERYBODY = (): boolean => true;
const NOBODY = (): boolean => false;

/**
 * Whether an address is in one of these CIDR ranges (`10.0.0.0/8`, `2001:db8::/32`, or a single address). No list
 * allows everybody. A range that cannot be read allows nobody.
 */
export function createAddressAllowlist(ranges: readonly string[] | undefined): (address: string) => boolean {
  if (ranges === undefined) return EVERYBODY;
  const list = new BlockList();
  let usable = 0;
  for (const range of ranges) if (addRange(list, range)) usable += 1;
  if (usable === 0) return NOBODY;
  return (address) => {
    const bare = address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
    const family = isIP(bare);
    return family !== 0 && list.check(bare, family === 4 ? 'ipv4' : 'ipv6');
  };
}

function addRange(list: BlockList, range: string): boolean {
  const [address = '', bits] = range.split('/', 2);
  const family = isIP(address);
  if (family === 0) return false;
  const prefix = bits === undefined ? (family === 4 ? 32 : 128) : Number(bits);
  if (!Number.isInteger(prefix) || prefix < 0 || prefix > (family === 4 ? 32 : 128)) return false;
  list.addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6');
  return true;
}
