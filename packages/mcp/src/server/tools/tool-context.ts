import { QuiverError } from '@quiver/core';
import { anyValue, checkOptions, ignoredOptions, type OptionChecks, signalValue } from '@quiver/core/internal';
import type { ElicitOptions, McpAuthInfo, McpExtra, ToolMcpContext } from '@quiver/core/tools';
import { isLoggingLevel, loggingLevels } from '../../protocol/constants.js';
import { isObject, type RequestId } from '../../protocol/json-rpc.js';
import type { ClientCapabilities, Implementation } from '../../protocol/types.js';
import {
  elicitationRequest,
  rawRequest,
  rootsRequest,
  samplingRequest,
  type ClientRequest,
} from '../client/client-requests.js';
import type { ServerRequest } from '../request.js';
import { toJsonSafe } from './json-safe.js';

const noProgress = 'requests to the client have no progress.';
export const elicitChecks: OptionChecks<ElicitOptions> = {
  key: anyValue,
  timeout: anyValue,
  signal: signalValue,
  // Options of requests in the official SDK.
  ...ignoredOptions({
    onprogress: noProgress,
    resetTimeoutOnProgress: noProgress,
    maxTotalTimeout: 'timeout limits the whole request.',
  }),
};

let readRequest: (context: ToolContext) => ServerRequest;

/**
 * `context.mcp` and `context.mcp.extra` of tools and callbacks, one object: it has the declared members and no others.
 * Functions need no `this`, so that tools may take them apart: `const { sample } = context.mcp`.
 *
 * Getters are on the prototype: object literals with getters, made per request, survive young-generation collections and double the
 * memory of a busy server. Only the members that describe the caller are enumerable, for logs of `mcp.extra`.
 */
export class ToolContext implements ToolMcpContext, McpExtra {
  readonly requestId: RequestId;
  readonly authInfo?: McpAuthInfo;
  readonly sessionId?: string;
  readonly #request: ServerRequest;

  static {
    readRequest = (context) => context.#request;
  }

  constructor(request: ServerRequest) {
    const { requestId, caller } = request;
    const { authInfo, sessionId } = caller;
    this.requestId = requestId;
    if (authInfo) this.authInfo = authInfo;
    if (sessionId !== undefined) this.sessionId = sessionId;
    this.#request = request;
  }

  get extra(): McpExtra {
    return this;
  }

  get _meta(): McpExtra['_meta'] {
    return this.#request.meta;
  }

  get requestInfo(): { readonly headers: Readonly<Record<string, string>> } {
    return { headers: this.#request.caller.headers };
  }

  get clientInfo(): Implementation | undefined {
    return this.#request.client.clientInfo;
  }

  get clientCapabilities(): ClientCapabilities {
    return this.#request.client.clientCapabilities;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  get closeSSEStream(): () => void {
    return () => this.#request.closeStream();
  }

  get callId(): string {
    return this.#request.callId;
  }

  get elicitation(): ToolMcpContext['elicitation'] {
    return {
      sendRequest: (request, options) =>
        this.#ask('elicitation.sendRequest', () => elicitationRequest(request), options),
    };
  }

  get sample(): ToolMcpContext['sample'] {
    return (request, options) => this.#ask('sample', () => samplingRequest(request), options);
  }

  get roots(): ToolMcpContext['roots'] {
    return (options) => this.#ask('roots', rootsRequest, options);
  }

  #ask<Result>(name: string, create: () => ClientRequest<Result>, options: ElicitOptions = {}): Promise<Result> {
    return this.#request.ask(() => {
      checkOptions(name, options, elicitChecks);
      return create();
    }, options);
  }

  get progress(): ToolMcpContext['progress'] {
    return async (update) => this.#request.report(update);
  }

  get log(): ToolMcpContext['log'] {
    return async (level, message, data) => sendLog(this.#request, level, message, data);
  }

  get sendNotification(): NonNullable<McpExtra['sendNotification']> {
    return async ({ method, params }) => void this.#request.notify(method, params ?? {});
  }

  /** As in the official SDK, options may follow a result schema, which is not needed here. */
  get sendRequest(): NonNullable<McpExtra['sendRequest']> {
    return (request, ...[first, second]: unknown[]) => {
      const options = isObject(second) ? second : isObject(first) && !('parse' in first) ? first : {};
      return this.#request.ask(() => rawRequest(request), options);
    };
  }
}

/** Returns the request behind a context, for tools of the server itself. */
export function toolRequestOf(context: ToolMcpContext | undefined): ServerRequest {
  // The cast: the server passes no other contexts.
  return readRequest(context as ToolContext);
}

function sendLog(request: ServerRequest, level: string, message: string, data: unknown): void {
  const { logLevel } = request.client;
  const named = level === 'warn' ? 'warning' : level;
  if (!isLoggingLevel(named)) {
    throw new QuiverError(
      'LOG_LEVEL_UNKNOWN',
      `'${level}' is not a log level of the protocol; use one of ${loggingLevels.join(', ')}.`,
    );
  }
  if (logLevel === undefined || loggingLevels.indexOf(named) < loggingLevels.indexOf(logLevel)) return;
  request.notify('notifications/message', {
    level: named,
    data: data === undefined ? message : { message, data: toJsonSafe(data) },
  });
}
