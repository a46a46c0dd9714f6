import { errorCodes } from '../protocol/constants.js';
import { isObject } from '../protocol/json-rpc.js';
import { ProtocolError } from '../protocol/protocol-error.js';
import type { ToolAccessCheck } from '../tool-access.js';

/**
 * Refuses a tool call whose token lacks a scope.
 *
 * @throws ProtocolError with HTTP status 403 and the challenge of the authorization middleware
 * @see [RFC 6750, section 3.1 – Error Codes](https://www.rfc-editor.org/rfc/rfc6750.html#section-3.1)
 */
export function requireToolAccess(toolName: string, check: ToolAccessCheck): void {
  const refusal = check(toolName);
  if (!refusal) return;
  const { status, headers, body } = refusal;
  throw new ProtocolError(errorCodes.refused, body.error_description, {
    httpStatus: status,
    response: { headers, body },
  });
}

/**
 * Refuses messages with such a call before any of them runs: responses of a batch, and of HTTP+SSE, cannot carry a status each.
 *
 * @throws ProtocolError with HTTP status 403
 */
export function requireToolAccessOfAll(messages: readonly unknown[], check: ToolAccessCheck | undefined): void {
  if (!check) return;
  for (const message of messages) {
    if (!isObject(message) || message['method'] !== 'tools/call' || !isObject(message['params'])) continue;
    const { name } = message['params'];
    if (typeof name === 'string') requireToolAccess(name, check);
  }
}
