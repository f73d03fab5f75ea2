/**
 * The counted form of a client's address. For IPv6 the first 64 bits: a customer gets at least a /64 network, and
 * must not get a share for each of its addresses.
 */
export function countedAddress(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = mappedV4.exec(address);
  if (mapped !== null) return mapped[1] ?? address;
  const [head = '', tail] = (address.split('%', 1)[0] ?? '').toLowerCase().split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : Math.max(0, ipv6Groups - left.length - right.length);
  const groups = [...left, ...Array<string>(gap).fill('0'), ...right];
  const kept = groups.slice(0, ipv6Groups / 2).map((group) => group.replace(/^0+(?=.)/, ''));
  return `${kept.join(':')}::/64`;
}

const ipv6Groups = 8;
const mappedV4 = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;
