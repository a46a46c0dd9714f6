import { escapeForLog, isQuiverError, QuiverError, toErrorMessage } from '@quiver/core';
import { signInRequired } from './sign-in-required.js';
import type { StdioTransport } from './transports/stdio-transport.js';

/** The answer that is given in the name of a server whose stream ended without one. */
export const streamEnded: object = { reason: 'stream ended' };

export interface RequestFailure {
  readonly serverName: string;
  readonly error: unknown;
  /** The server, if it is a child. */
  readonly process: StdioTransport | undefined;
  readonly timeout: number;
}

/**
 * Gives every failure of a request a code: `MCP_REQUEST_TIMEOUT`, `MCP_CONNECTION_CLOSED`, `MCP_INPUT_ROUNDS_EXCEEDED`,
 * `MCP_LIST_ENDLESS`, or `MCP_REQUEST_FAILED` for what the server itself says. `details` tells `rpcCode` and `httpStatus`.
 */
export async function explainRequestError({
  serverName,
  error,
  process,
  timeout,
}: RequestFailure): Promise<QuiverError> {
  if (isQuiverError(error)) return error;
  const awaited = signInRequired(error);
  if (awaited) return awaited;
  const { ProtocolError, SdkError, SdkErrorCode } = await import('../../protocol/sdk-client.js');
  const status = statusOf(error);
  const details: Record<string, unknown> = {
    server: serverName,
    ...stderrOf(process),
    ...(status !== undefined && { httpStatus: status }),
    ...(error instanceof ProtocolError && {
      rpcCode: error.code,
      ...(error.data !== undefined && { data: error.data }),
    }),
  };
  const explained = (code: string, message: string): QuiverError =>
    new QuiverError(code, message, { cause: error, details });
  if (codeOf(error) === 'REQUEST_TIMEOUT') return explained('MCP_REQUEST_TIMEOUT', timeoutMessage(serverName, timeout));
  if (error instanceof SdkError && error.code === SdkErrorCode.InputRequiredRoundsExceeded)
    return explained('MCP_INPUT_ROUNDS_EXCEEDED', `MCP server '${serverName}' kept asking: ${toErrorMessage(error)}`);
  if (error instanceof SdkError && error.code === SdkErrorCode.ListPaginationExceeded)
    return explained(
      'MCP_LIST_ENDLESS',
      `MCP server '${serverName}' sends a list without end: ${toErrorMessage(error)}`,
    );
  if (isLostConnection(error) || (error instanceof ProtocolError && error.data === streamEnded)) {
    delete details['data'];
    return explained(
      'MCP_CONNECTION_CLOSED',
      `MCP server '${serverName}' went away before it answered: ${asSentence(reasonOf(error, process))} The call was not repeated, since it may have had effects.`,
    );
  }
  return explained(
    'MCP_REQUEST_FAILED',
    `MCP server '${serverName}' refused the request: ${escapeForLog(toErrorMessage(error))}`,
  );
}

export function timeoutMessage(serverName: string, timeout: number): string {
  return `MCP server '${serverName}' did not answer within ${timeout} ms. Raise \`timeout\` if it needs longer.`;
}

/** The connection broke, or there was none. What was sent may have arrived. */
function isLostConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (code === 'CONNECTION_CLOSED' || code === 'NOT_CONNECTED') return true;
  // What `fetch` throws for every trouble below HTTP; the other text is the SDK's, which has no code for it.
  return (error instanceof TypeError && error.message.startsWith('fetch failed')) || error.message === 'Not connected';
}

/** HTTP 404 to a request with a session id: the server restarted, and did not look at the request. */
export function isForgottenSession(error: unknown): boolean {
  return error instanceof Error && 'status' in error && error.status === 404;
}

/** The HTTP status that an error, or one behind it, carries. */
export function statusOf(error: unknown): number | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const { status, code, data } = at as { status?: unknown; code?: unknown; data?: { status?: unknown } };
    for (const candidate of [status, data?.status, code]) {
      if (typeof candidate === 'number' && candidate >= 100 && candidate < 600) return candidate;
    }
  }
  return undefined;
}

/** Why a connection failed: how the process ended and its last words, or what the network said. */
export function reasonOf(error: unknown, process: StdioTransport | undefined): string {
  if (process?.ending === undefined) return escapeForLog(withCauses(error));
  const tail = process.stderrTail.trim().slice(-500);
  return `its process ${process.ending}.${tail === '' ? '' : ` It wrote: ${tail}`}`;
}

/** `fetch failed (connect ECONNREFUSED 127.0.0.1:1)`: what the outermost error says and what is behind it. */
function withCauses(error: unknown): string {
  const messages: string[] = [];
  for (let at = error; at !== undefined && messages.length < 5; at = at instanceof Error ? at.cause : undefined) {
    const message = toErrorMessage(at);
    if (!messages.some((known) => known.includes(message))) messages.push(message);
  }
  const [first = 'unknown error', ...behind] = messages;
  return behind.length === 0 ? first : `${first} (${behind.join('; ')})`;
}

function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

export function stderrOf(process: StdioTransport | undefined): { stderr?: string } {
  return process && process.stderrTail !== '' ? { stderr: process.stderrTail } : {};
}

/** That of the SDK's errors, and of those of requests that go past it. */
function codeOf(error: unknown): unknown {
  return error instanceof Error ? (error as { code?: unknown }).code : undefined;
}
