import { escapeForLog, isQuiverError, QuiverError, toErrorMessage } from '@quiver/core';
import { defined } from '../../defined.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import { isConnectionRefused } from '../../repeats.js';
import { ConnectionLostError, HttpError, type Channel } from '../transports/channel.js';
import { RequestTimeoutError } from './call.js';
import { InputRoundsError, MissingInputError } from './respond-to-input.js';
import { summarizeOutput } from './summarize-output.js';

/**
 * Gives every failure of a request a code: `MCP_REQUEST_TIMEOUT`, `MCP_CONNECTION_CLOSED`, `MCP_INPUT_ROUNDS_EXCEEDED`, or
 * `MCP_REQUEST_FAILED` for errors that the server sent. `details` contains `rpcCode` and `httpStatus`.
 */
export function explainRequestError(error: unknown, serverName: string, channel?: Channel): QuiverError {
  if (isQuiverError(error)) return error;
  const status = statusOf(error);
  const details: Record<string, unknown> = {
    server: serverName,
    ...defined({ stderr: channel?.stderr || undefined, httpStatus: status }),
    ...(error instanceof ProtocolError && defined({ rpcCode: error.code, data: error.data })),
  };
  const explained = (code: string, message: string): QuiverError =>
    new QuiverError(code, message, { cause: error, details });
  if (error instanceof RequestTimeoutError)
    return explained(
      'MCP_REQUEST_TIMEOUT',
      error.cause === undefined
        ? `MCP server '${serverName}' did not respond within ${error.timeout} ms. Raise \`timeout\` if the request needs longer.`
        : `MCP server '${serverName}' did not respond within ${error.timeout} ms: ${escapeForLog(asSentence(toErrorMessage(error.cause)))}`,
    );
  if (error instanceof InputRoundsError)
    return explained(
      'MCP_INPUT_ROUNDS_EXCEEDED',
      `MCP server '${serverName}' requires input without end: ${error.message}. Raise \`maxInputRounds\` if it needs more.`,
    );
  if (isConnectionRefused(error))
    return explained(
      'MCP_CLIENT_CONNECT_FAILED',
      `MCP server '${serverName}' refused the connection: ${asSentence(reasonOf(error, channel))} Nothing was sent. Check that the server runs.`,
    );
  if (isLostConnection(error))
    return explained(
      'MCP_CONNECTION_CLOSED',
      `The connection to MCP server '${serverName}' ended before the response: ${asSentence(reasonOf(error, channel))} The request was not repeated, because it may have had effects.`,
    );
  return explained('MCP_REQUEST_FAILED', describeFailure(error, serverName));
}

/** Says which side a failure comes from: the text of a server, such as `fetch failed`, may be about another connection of the server. */
function describeFailure(error: unknown, serverName: string): string {
  const reason = escapeForLog(withCauses(error));
  if (error instanceof ProtocolError) return `MCP server '${serverName}' reported an error: ${reason}`;
  if (error instanceof HttpError) return `MCP server '${serverName}' rejected the request: ${reason}`;
  if (error instanceof MissingInputError)
    return `The client could not provide the input that MCP server '${serverName}' requires: ${reason}`;
  return `The request to MCP server '${serverName}' failed: ${reason}`;
}

/** Returns whether the connection broke, or did not exist. The request may have arrived. */
export function isLostConnection(error: unknown): boolean {
  return error instanceof ConnectionLostError || isNetworkError(error);
}

/** `fetch` has no other mark for errors below HTTP. */
export function isNetworkError(error: unknown): error is TypeError {
  return error instanceof TypeError && error.message.startsWith('fetch failed');
}

/** Returns the HTTP status of an error, unless it is a successful one. */
export function statusOf(error: unknown): number | undefined {
  const status = error instanceof HttpError ? error.status : error instanceof ProtocolError ? error.httpStatus : 0;
  return status < 300 ? undefined : status;
}

/** Returns why a connection failed or ended: the end of its process, or the error; and what the process wrote. */
export function reasonOf(error: unknown, channel: Channel | undefined): string {
  const reason = channel?.ending === undefined ? escapeForLog(withCauses(error)) : `its process ${channel.ending}`;
  const written = summarizeOutput(channel?.stderr || channel?.strayOutput || '');
  return written === '' ? reason : `${asSentence(reason)} It wrote: ${written}`;
}

/** Joins the messages of an error and its causes, without a `fetch failed` that has a cause. */
function withCauses(error: unknown): string {
  const messages: string[] = [];
  for (let at = error; at !== undefined && messages.length < 5; at = at instanceof Error ? at.cause : undefined) {
    if (isNetworkError(at) && at.message === 'fetch failed' && at.cause !== undefined) continue;
    const message = at instanceof AggregateError ? at.errors.map(toErrorMessage).join('; ') : toErrorMessage(at);
    if (!messages.some((known) => known.includes(message))) messages.push(message);
  }
  const [first = 'unknown error', ...behind] = messages;
  return behind.length === 0 ? first : `${first} (${behind.join('; ')})`;
}

export function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
