import { BlockList, isIP } from 'node:net';
import { QuiverError } from '@quiver/core';
import { isMetadataAddress, isPrivateAddress, type OptionCheck, valueThat } from '@quiver/core/internal';

/** Throws for an address of the host name that must not be requested. */
export type AddressCheck = (hostname: string, address: string) => void;

const network = /^(.+)\/(\d{1,3})$/;
const hostName = /^[\p{L}\p{N}]([\p{L}\p{N}._-]*[\p{L}\p{N}])?$/u;

/** Accepts `true`, `false`, or a list of host names, IP addresses and networks. */
export const allowedAddresses: OptionCheck = valueThat(
  (value) =>
    typeof value === 'boolean' ||
    (Array.isArray(value) && value.every((item) => typeof item === 'string' && (isNetwork(item) || isHost(item)))),
  'true, false, or a list of host names, addresses and networks such as wiki.intern and 10.1.0.0/16',
);

function isNetwork(text: string): boolean {
  const [, address = '', prefix] = network.exec(text) ?? [];
  return isIP(address) > 0 && Number(prefix) <= (isIP(address) === 4 ? 32 : 128);
}

const isHost = (text: string): boolean => isIP(text) > 0 || hostName.test(text);

/**
 * Returns the check of addresses that pages are requested from.
 *
 * @param allowed - private addresses that may be requested: all, none, or those of hosts and networks. Link-local addresses and those of
 *   metadata services never are
 */
export function createAddressCheck(allowed: boolean | readonly string[]): AddressCheck {
  const networks = new BlockList();
  const hosts = new Set<string>();
  for (const item of allowed === true || allowed === false ? [] : allowed) {
    const [, address = item, prefix] = network.exec(item) ?? [];
    const family = isIP(address);
    if (family === 0) hosts.add(item.toLowerCase());
    else networks.addSubnet(address, Number(prefix ?? (family === 4 ? 32 : 128)), `ipv${family as 4 | 6}`);
  }
  return (hostname, address) => {
    if (isMetadataAddress(address))
      throw addressPrivate(
        `${hostname} has the address ${address}, where machines serve their credentials`,
        'Check the URL',
      );
    if (allowed === true || !isPrivateAddress(address)) return;
    if (hosts.has(hostname.toLowerCase()) || networks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')) return;
    throw addressPrivate(
      `${hostname} has the private address ${address}`,
      'Add it to allowPrivateAddresses to load its pages',
    );
  };
}

function addressPrivate(problem: string, remedy: string): QuiverError {
  return new QuiverError('PAGE_ADDRESS_PRIVATE', `${problem}. No request is sent to it. ${remedy}.`);
}
