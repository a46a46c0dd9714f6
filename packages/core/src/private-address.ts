import type { LookupAddress } from 'node:dns';
import { lookup as resolveName } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';

/**
 * Ranges without public servers: local host, private, link-local, shared, benchmark, multicast, reserved; and the IPv6 ranges that a
 * gateway translates into one of them, or that are obsolete (6to4, Teredo, IPv4-compatible, site-local).
 *
 * @see [IANA IPv6 Special-Purpose Address Registry](https://www.iana.org/assignments/iana-ipv6-special-registry/iana-ipv6-special-registry.xhtml)
 */
const privateRanges: BlockList = new BlockList();
const ranges4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.168.0.0/16 198.18.0.0/15 224.0.0.0/3';
for (const range of ranges4.split(' ')) {
  const [network = '', prefix] = range.split('/');
  privateRanges.addSubnet(network, Number(prefix), 'ipv4');
  // RFC 6052: what NAT64 translates. The rest of its range is how networks without IPv4 reach public servers.
  privateRanges.addSubnet(`64:ff9b::${network}`, 96 + Number(prefix), 'ipv6');
}
const ranges6 = '::/96 ::ffff:0:0:0/96 64:ff9b:1::/48 2001::/32 2002::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8';
for (const range of ranges6.split(' ')) {
  const [network = '', prefix] = range.split('/');
  privateRanges.addSubnet(network, Number(prefix), 'ipv6');
}

/**
 * Returns whether an IP address is not the address of a public server.
 *
 * @param address - an IP address; IPv4 addresses in IPv6 form are checked as IPv4 addresses
 */
export function isPrivateAddress(address: string): boolean {
  return privateRanges.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

const metadataRanges: BlockList = new BlockList();
metadataRanges.addSubnet('169.254.0.0', 16, 'ipv4');
metadataRanges.addSubnet('64:ff9b::169.254.0.0', 112, 'ipv6');
metadataRanges.addSubnet('fe80::', 10, 'ipv6');
// Amazon, Alibaba and Oracle.
metadataRanges.addAddress('fd00:ec2::254', 'ipv6');
metadataRanges.addAddress('100.100.100.200', 'ipv4');
metadataRanges.addAddress('192.0.0.192', 'ipv4');

/**
 * Returns whether an IP address is link-local, where clouds serve the credentials of a machine, or another address of such a metadata
 * service. No application of a network has one.
 */
export function isMetadataAddress(address: string): boolean {
  return metadataRanges.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

const loopback: BlockList = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Returns whether an IP address is a loopback address. A name of localhost may, by mistake or on purpose, resolve to another one. */
export function isLoopbackAddress(address: string): boolean {
  return loopback.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** Addresses that a host name resolves to, checked before a connection is opened to one of them. */
export interface AddressGuard {
  /** @throws the error of the check */
  readonly resolve: (hostname: string) => Promise<LookupAddress[]>;
  /** The same for `node:http` and `node:net`: a name that is resolved a second time may have changed in between. */
  readonly lookup: LookupFunction;
}

/**
 * Returns a guard against requests to addresses that the caller must not reach.
 *
 * @param requireAllowed - throws for an address of the host name that is not allowed
 * @param resolve - resolves host names. Default: `dns.lookup`
 * @see [OWASP, Server-Side Request Forgery Prevention](https://cheatsheetseries.owasp.org/cheatsheets/Server_Side_Request_Forgery_Prevention_Cheat_Sheet.html)
 */
export function createAddressGuard(
  requireAllowed: (hostname: string, address: string) => void,
  resolve: (hostname: string, options: { readonly all: true }) => Promise<LookupAddress[]> = resolveName,
): AddressGuard {
  const resolveAllowed = async (hostname: string): Promise<LookupAddress[]> => {
    const addresses = await resolve(hostname, { all: true });
    for (const { address } of addresses) requireAllowed(hostname, address);
    return addresses;
  };
  const lookup: LookupFunction = (hostname, { all }, callback) => {
    callbackify(resolveAllowed)(hostname, (error, addresses) => {
      if (error ?? all) return callback(error, addresses ?? []);
      return callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
    });
  };
  return { resolve: resolveAllowed, lookup };
}
