import { QuiverError } from '@quiver/core';
import type { McpAuthInfo, McpExtra, ToolMcpContext } from '@quiver/core/tools';
import { isLoggingLevel, loggingLevels, type LoggingLevel } from '../protocol/constants.js';
import type { RequestId } from '../protocol/json-rpc.js';
import type { AskClient } from './elicitation.js';
import type { Exchange } from './exchange.js';

export interface ToolMcpContextOptions {
  readonly exchange: Exchange;
  /** The least severe level the client wants to hear of; `undefined` for no log messages at all. */
  readonly logLevel: LoggingLevel | undefined;
  /** Sent by a client that wants to see progress. */
  readonly progressToken: string | number | undefined;
  readonly ask: AskClient;
}

/** The `context.mcp` of a tool that is called through this server. */
export function createToolMcpContext(options: ToolMcpContextOptions): ToolMcpContext {
  return new ExchangeContext(options);
}

/**
 * A class, not an object literal with getters: such literals, made per request, survive young-generation collections and
 * double the memory of a busy server.
 */
class ExchangeContext implements ToolMcpContext {
  readonly extra: McpExtra;
  readonly #options: ToolMcpContextOptions;

  constructor(options: ToolMcpContextOptions) {
    this.#options = options;
    this.extra = new ExchangeExtra(options.exchange);
  }

  get elicitation(): ToolMcpContext['elicitation'] {
    const { ask } = this.#options;
    return { sendRequest: (request, options = {}) => ask(request, options) };
  }

  async progress(update: { progress: number; total?: number; message?: string }): Promise<void> {
    const { exchange, progressToken } = this.#options;
    if (progressToken !== undefined) exchange.notify('notifications/progress', { progressToken, ...update });
  }

  async log(level: string, message: string, data?: unknown): Promise<void> {
    const { exchange, logLevel } = this.#options;
    const named = level === 'warn' ? 'warning' : level;
    if (!isLoggingLevel(named)) {
      throw new QuiverError(
        'LOG_LEVEL_UNKNOWN',
        `'${level}' is not a log level of the protocol; use one of ${loggingLevels.join(', ')}.`,
      );
    }
    if (logLevel === undefined || loggingLevels.indexOf(named) < loggingLevels.indexOf(logLevel)) return;
    exchange.notify('notifications/message', { level: named, data: data === undefined ? message : { message, data } });
  }
}

class ExchangeExtra implements McpExtra {
  readonly requestId: RequestId;
  readonly sessionId?: string;
  readonly authInfo?: McpAuthInfo;
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    const { authInfo, sessionId } = exchange.caller;
    this.#exchange = exchange;
    this.requestId = exchange.requestId;
    if (authInfo) this.authInfo = authInfo;
    if (sessionId !== undefined) this.sessionId = sessionId;
  }

  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  async sendNotification({ method, params }: { method: string; params?: Record<string, unknown> }): Promise<void> {
    this.#exchange.notify(method, params ?? {});
  }
}
