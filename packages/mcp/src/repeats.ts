import { isQuiverError, type QuiverError } from '@quiver/core';
import { errorCodes } from './protocol/constants.js';
import { isObject } from './protocol/json-rpc.js';
import { ProtocolError } from './protocol/protocol-error.js';

/**
 * May a call be sent twice? For a cause of this table only: the server provably has not started the call, or twice has the effect of once.
 * The comments say why, and how often. Every other failure reaches the caller, because the call may have had effects.
 *
 * The steps before a call are not here: the choice of the transport (`open-connection.ts`) and of the protocol era (`negotiate.ts`), and the
 * requests to authorization servers (`auth/client`).
 */
export const repeats = {
  /** Nothing was sent. A server that responded before restarts: every 200 ms, as long as a connection may take to open. */
  refused: { isCause: (error: unknown): boolean => isConnectionRefused(error), pause: 200 },

  /** The server says that it closes and did not start the request. Behind a balancer, another instance may receive the next one. */
  closedServer: { isCause: (error: unknown): boolean => isClosedServer(error), pauses: [100, 300, 1000] as const },

  /** A server rejects all requests of a session that it does not know, unread. Once, in a new session. */
  lostSession: {
    isCause: (status: number | undefined, sessionId: string | undefined): boolean =>
      status === 404 && sessionId !== undefined,
  },

  /** A server compares the headers that repeat arguments before it runs a tool. Once, with the headers of the current definition. */
  headerMismatch: {
    isCause: (error: unknown): boolean => error instanceof ProtocolError && error.code === errorCodes.headerMismatch,
  },

  /**
   * A server checks the token, and the scope for the tool, before it runs the tool. Once each, with other tokens. A proof of DPoP without its
   * nonce is rejected in the same way: once, with the nonce (`send-with-token.ts`).
   */
  rejectedToken: { isCause: (status: number): boolean => status === 401 },
  missingScope: {
    isCause: (status: number, error: string | undefined): boolean => status === 403 && error === 'insufficient_scope',
  },

  /**
   * Whether the server started the request is unknown. Lists, reads, prompts and completions have no effects: once.
   */
  lostConnection: {
    isCause: (error: QuiverError): boolean => error.code === 'MCP_CONNECTION_CLOSED',
    ofReads: 1,
  },

  /** Requests about a task read its state, respond by key or cancel it: twice has the effect of once. For five minutes. */
  aboutTask: { isCause: (error: unknown): error is QuiverError => isTemporary(error), limit: 300_000 },
};

/** Returns whether a connection was refused before anything was sent. */
export function isConnectionRefused(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof AggregateError && at.errors.length > 0) return at.errors.every(isConnectionRefused);
    if ((at as NodeJS.ErrnoException).code === 'ECONNREFUSED') return true;
  }
  return false;
}

function isClosedServer(error: unknown): boolean {
  if (!(error instanceof ProtocolError) || error.httpStatus !== 503) return false;
  return isObject(error.data) && error.data['code'] === 'SERVER_CLOSED';
}

/** Returns whether the same request may succeed later. */
function isTemporary(error: unknown): error is QuiverError {
  if (!isQuiverError(error)) return false;
  const { httpStatus, rpcCode } = error.details ?? {};
  if (typeof httpStatus === 'number') return httpStatus === 429 || httpStatus >= 500;
  return temporaryCodes.has(error.code) || rpcCode === errorCodes.internal;
}

const temporaryCodes: ReadonlySet<string> = new Set([
  'MCP_CLIENT_CONNECT_FAILED',
  'MCP_CONNECTION_CLOSED',
  'MCP_REQUEST_TIMEOUT',
]);
