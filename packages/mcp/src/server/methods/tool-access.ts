import { isObject, type JsonRpcRequest } from '../../protocol/json-rpc.js';
import { refused } from '../../protocol/protocol-error.js';
import type { ToolAccessCheck } from '../../tool-access.js';
import { resolveCall, type ServerRequest } from '../request.js';

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
  throw refused(status, body.error_description, { headers, body });
}

/**
 * Refuses messages with such a call before any of them runs: responses of a batch, and of HTTP+SSE, cannot carry a status each.
 *
 * @param request - any request of the caller
 * @throws ProtocolError with HTTP status 403
 */
export function requireToolAccessOfAll(messages: readonly unknown[], request: ServerRequest): void {
  const { caller, server } = request;
  const toolAccess = caller.http?.toolAccess;
  if (!toolAccess) return;
  for (const message of messages) {
    if (!isObject(message) || message['method'] !== 'tools/call' || !isObject(message['params'])) continue;
    // The cast: its method and params have been checked.
    const call = message as unknown as JsonRpcRequest;
    const name = resolveCall(server, call)?.name ?? call.params?.['name'];
    if (typeof name === 'string' && server.tools.find(request, name)) requireToolAccess(name, toolAccess);
  }
}
