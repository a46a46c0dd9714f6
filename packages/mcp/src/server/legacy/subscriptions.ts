import type { Params } from '../../protocol/json-rpc.js';
import { invalidParams } from '../../protocol/protocol-error.js';
import type { LegacyPeer } from './legacy-peer.js';

/** Resources that one client may watch. */
const maxSubscriptions = 1000;

/** `resources/subscribe`: from now on this client hears of changes of the resource. */
export async function subscribe(peer: LegacyPeer, params: Params | undefined): Promise<string> {
  const uri = requireUri(params);
  const subscriptions = (peer.subscriptions ??= new Set());
  if (subscriptions.size >= maxSubscriptions && !subscriptions.has(uri))
    throw invalidParams(`One client can watch at most ${maxSubscriptions} resources.`);
  subscriptions.add(uri);
  return '{}';
}

export async function unsubscribe(peer: LegacyPeer, params: Params | undefined): Promise<string> {
  peer.subscriptions?.delete(requireUri(params));
  return '{}';
}

function requireUri(params: Params | undefined): string {
  const uri = params?.['uri'];
  if (typeof uri !== 'string' || uri === '') throw invalidParams('The request needs the uri of a resource.');
  return uri;
}
