import { metaKeys } from '../../../protocol/constants.js';
import { isObject } from '../../../protocol/json-rpc.js';
import { isPlainIdentity } from '../../../protocol/plain-identity.js';

/** Some members of `_meta` have a shape of their own, which the SDK knows. */
export function isPlainMeta(meta: unknown): boolean {
  if (meta === undefined) return true;
  if (!isObject(meta)) return false;
  for (const key in meta) {
    if (key === metaKeys.serverInfo && isPlainIdentity(meta[key])) continue;
    if (key === 'progressToken' || key.startsWith('io.modelcontextprotocol/')) return false;
  }
  return true;
}
