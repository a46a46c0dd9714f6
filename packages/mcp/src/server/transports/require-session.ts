import { errorCodes } from '../../protocol/constants.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import { principalOf, toAuthInfo } from '../auth-info.js';
import type { Session } from '../sessions.js';
import type { HttpCall } from './http-call.js';

/**
 * The session that a request names, if it belongs to the caller. To everybody else it does not exist.
 *
 * @throws ProtocolError with HTTP status 400 or 404
 */
export function requireSession({ state, request }: HttpCall, method: 'GET' | 'POST' | 'DELETE' = 'POST'): Session {
  const id = request.header('mcp-session-id');
  if (id === undefined) {
    const message =
      method === 'POST'
        ? 'Bad Request: No valid session ID provided for non-initialize request'
        : `Bad Request: ${method} request requires a valid session ID`;
    throw new ProtocolError(errorCodes.refused, message, { httpStatus: 400 });
  }
  const session = state.sessions.find(id, principalOf(toAuthInfo(request.auth)));
  if (!session) throw new ProtocolError(errorCodes.sessionNotFound, 'Session not found', { httpStatus: 404 });
  return session;
}
