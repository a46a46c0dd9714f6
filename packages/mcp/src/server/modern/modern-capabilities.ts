import { metaKeys } from '../../protocol/constants.js';
import { isObject, type Params } from '../../protocol/json-rpc.js';
import type { ClientCapabilities } from '../../protocol/types.js';

/** What the client of a modern request says it can do. */
export function modernCapabilitiesOf(params: Params | undefined): ClientCapabilities {
  const meta = params?.['_meta'];
  const declared = isObject(meta) ? meta[metaKeys.clientCapabilities] : undefined;
  return isObject(declared) ? declared : {};
}
