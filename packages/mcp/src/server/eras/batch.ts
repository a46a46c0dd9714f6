import { toErrorMessage, type Logger } from '@quiver/core';
import { BATCH_VERSION, errorCodes } from '../../protocol/constants.js';
import { errorText, parseMessage, type JsonRpcRequest } from '../../protocol/json-rpc.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { LegacySession } from '../legacy-session.js';
import { acceptLegacyNotification } from './legacy.js';
import { acceptLegacyResponse } from './send-client-request.js';
import { MAX_BATCH_MESSAGES } from '../limits.js';

export interface BatchOptions {
  readonly messages: readonly unknown[];
  readonly session: LegacySession;
  /** Negotiated protocol version; `undefined` before the handshake. */
  readonly version: string | undefined;
  /** Returns the response to one request; `undefined` for a canceled one. */
  readonly answer: (request: JsonRpcRequest) => Promise<string | undefined>;
  readonly logger: Logger;
}

/**
 * Answers a JSON-RPC batch: runs its requests concurrently and returns all responses together. An invalid message does not affect the others.
 *
 * @returns an array as JSON text; `undefined` when no message of the batch expects a response
 * @throws ProtocolError -32600 with HTTP status 400 for an empty batch, more than 100 messages, or another protocol version
 * @see [JSON-RPC 2.0, batch](https://www.jsonrpc.org/specification#batch)
 * @see [MCP 2025-03-26, batching](https://modelcontextprotocol.io/specification/2025-03-26/basic#batching)
 */
export async function answerBatch({
  messages,
  session,
  version,
  answer,
  logger,
}: BatchOptions): Promise<string | undefined> {
  if (version !== BATCH_VERSION) {
    throw refused(
      `Invalid Request: send one JSON-RPC message at a time; only protocol version ${BATCH_VERSION} has batches`,
    );
  }
  if (messages.length === 0) throw refused('Invalid Request: the batch is empty');
  if (messages.length > MAX_BATCH_MESSAGES)
    throw refused(`Invalid Request: a batch holds at most ${MAX_BATCH_MESSAGES} messages`);
  const answerOne = async (value: unknown): Promise<string | undefined> => {
    const incoming = parseMessage(value);
    if (incoming?.kind === 'notification') return void acceptLegacyNotification(session, incoming.message);
    if (incoming?.kind === 'response') return void acceptLegacyResponse(session, incoming.message);
    try {
      if (!incoming) throw refused('Invalid Request: not a JSON-RPC message');
      if (incoming.message.method === 'initialize')
        throw refused('Invalid Request: initialize must not be part of a batch');
      return await answer(incoming.message);
    } catch (error) {
      if (!(error instanceof ProtocolError)) logger.error(`An MCP request failed: ${toErrorMessage(error)}`, error);
      return errorText(incoming?.message.id ?? null, error);
    }
  };
  const answers = (await Promise.all(messages.map(answerOne))).filter((text) => text !== undefined);
  return answers.length === 0 ? undefined : `[${answers.join(',')}]`;
}

function refused(message: string): ProtocolError {
  return new ProtocolError(errorCodes.invalidRequest, message, { httpStatus: 400 });
}
