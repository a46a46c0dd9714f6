import type { Params } from '../protocol/json-rpc.js';
import { invalidParams } from '../protocol/protocol-error.js';

/**
 * Lists are sent in one page, so a cursor cannot be one of ours.
 *
 * @throws ProtocolError -32602 when there is one
 */
export function refuseCursor(params: Params | undefined): void {
  if (params?.['cursor'] !== undefined) throw invalidParams('Unknown cursor: this list has one page.');
}
