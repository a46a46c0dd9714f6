/**
 * Returns the key by which a client without authentication is counted: its IPv4 address, or the /64 prefix of its IPv6 address, because
 * one site has all addresses of a prefix.
 *
 * @returns `undefined` for an unknown address, and for a loopback address, which may stand for many clients: of a reverse proxy
 * @see [RFC 6177, IPv6 address assignment to end sites](https://www.rfc-editor.org/rfc/rfc6177.html)
 */
export function addressKeyOf(address: string | undefined): string | undefined {
  if (address === undefined || isLoopback(address)) return undefined;
  const ipv4 = /^(?:::ffff:)?([^:]+)$/i.exec(address)?.[1];
  // The link-local addresses of all hosts of a network have one prefix.
  if (/^fe[89ab]/i.test(address)) return `address ${address}`;
  return `address ${ipv4 ?? prefixOf(address)}`;
}

/** Returns the first four groups of an IPv6 address in their shortest form. */
function prefixOf(address: string): string {
  const [start = [], end = []] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: Math.max(0, 8 - start.length - end.length) }, () => '0');
  const groups = [...start, ...zeros, ...end].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

export function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.');
}
