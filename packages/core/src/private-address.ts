import type { LookupAddress } from 'node:dns';
import type { BlockList, LookupFunction } from 'node:net';
import { loadBuiltin } from './load-builtin.js';

/**
 * Ranges without public servers: local host, private, link-local, shared, benchmark, multicast, reserved; and the IPv6 ranges that a
 * gateway translates into one of them, or that are obsolete (6to4, Teredo, IPv4-compatible, site-local).
 *
 * @see [IANA IPv6 Special-Purpose Address Registry](https://www.iana.org/assignments/iana-ipv6-special-registry/iana-ipv6-special-registry.xhtml)
 */
const private4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.168.0.0/16 198.18.0.0/15 224.0.0.0/3';
const private6 = '::/96 ::ffff:0:0:0/96 64:ff9b:1::/48 2001::/32 2002::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8';

/** The IPv4 ranges as NAT64 translates them (RFC 6052). The rest of its range is how networks without IPv4 reach public servers. */
const translate = (ranges: string): string =>
  ranges
    .split(' ')
    .map((range) => range.split('/'))
    .map(([network, prefix]) => `64:ff9b::${network}/${96 + Number(prefix)}`)
    .join(' ');

/**
 * Returns whether an IP address is not the address of a public server.
 *
 * @param address - an IP address; IPv4 addresses in IPv6 form are checked as IPv4 addresses
 */
export const isPrivateAddress: (address: string) => boolean = /* @__PURE__ */ isIn(
  () => `${private4} ${translate(private4)} ${private6}`,
);

/**
 * Returns whether an IP address is link-local, where clouds serve the credentials of a machine, or another address of such a metadata
 * service (Amazon, Alibaba, Oracle). No application of a network has one.
 */
export const isMetadataAddress: (address: string) => boolean = /* @__PURE__ */ isIn(
  () => '169.254.0.0/16 64:ff9b::169.254.0.0/112 fe80::/10 fd00:ec2::254/128 100.100.100.200/32 192.0.0.192/32',
);

/** Returns whether an IP address is a loopback address. A name of localhost may, by mistake or on purpose, resolve to another one. */
export const isLoopbackAddress: (address: string) => boolean = /* @__PURE__ */ isIn(() => '127.0.0.0/8 ::1/128');

/** Returns a function that parses the ranges with the first address that it compares with them. */
function isIn(ranges: () => string): (address: string) => boolean {
  let list: BlockList | undefined;
  return (address) => {
    const { BlockList, isIP } = loadBuiltin('node:net');
    const familyOf = (ip: string): 'ipv4' | 'ipv6' => (isIP(ip) === 6 ? 'ipv6' : 'ipv4');
    if (!list) {
      list = new BlockList();
      for (const range of ranges().split(' ')) {
        const [network = '', prefix] = range.split('/');
        list.addSubnet(network, Number(prefix), familyOf(network));
      }
    }
    return list.check(address, familyOf(address));
  };
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
  resolve: (hostname: string, options: { readonly all: true }) => Promise<LookupAddress[]> = loadBuiltin(
    'node:dns/promises',
  ).lookup,
): AddressGuard {
  const resolveAllowed = async (hostname: string): Promise<LookupAddress[]> => {
    const addresses = await resolve(hostname, { all: true });
    for (const { address } of addresses) requireAllowed(hostname, address);
    return addresses;
  };
  const lookup: LookupFunction = (hostname, { all }, callback) => {
    loadBuiltin('node:util').callbackify(resolveAllowed)(hostname, (error, addresses) => {
      if (error ?? all) return callback(error, addresses ?? []);
      return callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
    });
  };
  return { resolve: resolveAllowed, lookup };
}
