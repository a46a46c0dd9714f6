import { toErrorMessage, type Logger } from '@quiver/core';
import { errorCodes } from '../../protocol/constants.js';
import { errorText, type RequestId } from '../../protocol/json-rpc.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import { jsonHeaders, type HttpReply } from './http-message.js';

/** Answers with an error; what nobody foresaw becomes 500 without a word about its cause. */
export function refuseRequest(reply: HttpReply, error: unknown, id: RequestId | null, logger: Logger): void {
  if (!(error instanceof ProtocolError)) {
    logger.error(`An MCP request over HTTP failed: ${toErrorMessage(error)}`, error);
  }
  const status = error instanceof ProtocolError ? error.httpStatus : 500;
  const retry = status === 503 || status === 429 ? { 'retry-after': '60' } : undefined;
  const allow = error instanceof MethodNotAllowed ? { allow: error.allow } : undefined;
  reply.send(status, { ...jsonHeaders, ...retry, ...allow }, errorText(id, error));
}

/** HTTP status 405, with the methods that are served. */
export class MethodNotAllowed extends ProtocolError {
  readonly allow: string;

  constructor(method: string | undefined, allow: string) {
    super(errorCodes.refused, `Method not allowed: ${method}`, { httpStatus: 405 });
    this.allow = allow;
  }
}

export function shuttingDown(): ProtocolError {
  return new ProtocolError(errorCodes.refused, 'The server is shutting down', { httpStatus: 503 });
}
