import { QuiverError } from '@quiver/core';
import type { ElicitOptions } from '@quiver/core/tools';
import type { EncodedResult } from '../../content.js';
import { isLoggingLevel, metaKeys, MODERN_VERSION, type LoggingLevel } from '../../protocol/constants.js';
import { isObject, type ResultJson } from '../../protocol/json-rpc.js';
import { methodNotFound } from '../../protocol/protocol-error.js';
import type { ClientCapabilities, Implementation } from '../../protocol/types.js';
import type { CacheableMethod } from '../cache-hints.js';
import type { ClientRequest } from '../client-requests/client-request.js';
import { findMethod } from '../methods/find-method.js';
import { ServerRequest } from '../request.js';
import type { ServerDefinition } from '../server-definition.js';
import { answerWithInput, type InputRequiredRound } from './input-required.js';
import { answerListen } from './listen.js';

/** A request of the modern era; everything about the client is in its `_meta`. */
export class ModernRequest extends ServerRequest {
  readonly era = 'modern';
  #createRound: (() => InputRequiredRound) | undefined;
  #round: InputRequiredRound | undefined;

  get protocolVersion(): string {
    return MODERN_VERSION;
  }

  get clientCapabilities(): ClientCapabilities {
    const declared = this._meta?.[metaKeys.clientCapabilities];
    return isObject(declared) ? declared : {};
  }

  get clientInfo(): Implementation | undefined {
    const clientInfo = this._meta?.[metaKeys.clientInfo];
    // The shape was checked when the request was classified.
    return isObject(clientInfo) ? (clientInfo as unknown as Implementation) : undefined;
  }

  /** A modern client requests log messages per request; without a level it receives none. */
  get logLevel(): LoggingLevel | undefined {
    const level = this._meta?.[metaKeys.logLevel];
    return isLoggingLevel(level) ? level : undefined;
  }

  /** Allows the handler to send requests to the client; the round is created with the first one. */
  allowInput(createRound: () => InputRequiredRound): void {
    this.#createRound = createRound;
  }

  async sendToClient<Result>(request: ClientRequest<Result>, options: ElicitOptions): Promise<Result> {
    this.#round ??= this.#createRound?.();
    if (this.#round) return this.#round.request(request, options);
    throw new QuiverError(
      `${request.subject}_NOT_SUPPORTED`,
      'A client of this protocol version accepts requests only from tools/call, prompts/get and resources/read.',
    );
  }
}

/**
 * Answers a request of the modern era (2026-07-28).
 *
 * @returns the result as JSON
 * @throws ProtocolError for every failure that becomes a JSON-RPC error
 */
export function answerModernRequest(request: ModernRequest): ResultJson | Promise<ResultJson> {
  const { server, method, params } = request;
  const found = findMethod(server, method);
  if (found) {
    const run = (): Promise<string> => found.answer(request).then((result) => toResult(server, method, result));
    return found.allowsInput ? answerWithInput(request, run) : run();
  }
  switch (method) {
    case 'tools/list':
      return server.tools.list('modern', params, (members) => toResult(server, method, { members }));
    case 'server/discover':
      return toResult(server, method, { members: discover(server) });
    case 'subscriptions/listen':
      return answerListen(request);
  }
  throw methodNotFound(method, 404);
}

function discover({ capabilities, instructions }: ServerDefinition): string {
  const supportedVersions = [MODERN_VERSION];
  return JSON.stringify({ supportedVersions, capabilities, instructions }).slice(1, -1);
}

function toResult(server: ServerDefinition, method: string, { members, meta }: EncodedResult): string {
  const hint = server.cacheHints[method as CacheableMethod];
  const all = hint === undefined ? members : `${members},${hint}`;
  if (!meta) return `{${all},${server.modernResultEnd}`;
  const merged = { [metaKeys.serverInfo]: server.serverInfo, ...meta };
  return `{${all},"resultType":"complete","_meta":${JSON.stringify(merged)}}`;
}
