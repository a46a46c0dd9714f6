import { QuiverError } from '@quiver/core';
import type {
  ElicitOptions,
  McpAuthInfo,
  McpExtra,
  McpRoot,
  SampleRequest,
  SampleResult,
  ToolMcpContext,
} from '@quiver/core/tools';
import { isLoggingLevel, loggingLevels } from '../protocol/constants.js';
import { isObject, type RequestId } from '../protocol/json-rpc.js';
import type { ClientQuestion } from './client-question.js';
import { elicitationQuestion } from './elicitation.js';
import { rawQuestion } from './raw-question.js';
import { toJsonSafe } from './json-safe.js';
import { progressTokenOf, type RequestScope } from './request-scope.js';
import { rootsQuestion } from './roots.js';
import { samplingQuestion } from './sampling.js';

/** The `context.mcp` of a tool that is called through this server; resource and prompt callbacks get the same. */
export function createToolMcpContext(scope: RequestScope): ToolMcpContext {
  return new ScopeContext(scope);
}

/**
 * A class, not an object literal with getters: such literals, made per request, survive young-generation collections and
 * double the memory of a busy server.
 */
class ScopeContext implements ToolMcpContext {
  readonly extra: McpExtra;
  readonly #scope: RequestScope;

  constructor(scope: RequestScope) {
    this.#scope = scope;
    this.extra = new ScopeExtra(scope);
  }

  get clientCapabilities(): Readonly<Record<string, unknown>> {
    return this.#scope.clientCapabilities;
  }

  get elicitation(): ToolMcpContext['elicitation'] {
    const scope = this.#scope;
    return { sendRequest: (request, options) => ask(scope, () => elicitationQuestion(request), options) };
  }

  sample(request: SampleRequest, options?: ElicitOptions): Promise<SampleResult> {
    return ask(this.#scope, () => samplingQuestion(request), options);
  }

  roots(options?: ElicitOptions): Promise<McpRoot[]> {
    return ask(this.#scope, rootsQuestion, options);
  }

  async progress(update: { progress: number; total?: number; message?: string }): Promise<void> {
    const { exchange, params } = this.#scope;
    const progressToken = progressTokenOf(params);
    if (progressToken !== undefined) exchange.notify('notifications/progress', { progressToken, ...update });
  }

  async log(level: string, message: string, data?: unknown): Promise<void> {
    const { exchange, logLevel } = this.#scope;
    const named = level === 'warn' ? 'warning' : level;
    if (!isLoggingLevel(named)) {
      throw new QuiverError(
        'LOG_LEVEL_UNKNOWN',
        `'${level}' is not a log level of the protocol; use one of ${loggingLevels.join(', ')}.`,
      );
    }
    if (logLevel === undefined || loggingLevels.indexOf(named) < loggingLevels.indexOf(logLevel)) return;
    exchange.notify('notifications/message', {
      level: named,
      data: data === undefined ? message : { message, data: toJsonSafe(data) },
    });
  }
}

class ScopeExtra implements McpExtra {
  readonly requestId: RequestId;
  readonly sessionId?: string;
  readonly authInfo?: McpAuthInfo;
  readonly #scope: RequestScope;

  constructor(scope: RequestScope) {
    const { exchange } = scope;
    const { authInfo, sessionId } = exchange.caller;
    this.#scope = scope;
    this.requestId = exchange.requestId;
    if (authInfo) this.authInfo = authInfo;
    if (sessionId !== undefined) this.sessionId = sessionId;
  }

  get _meta(): Readonly<Record<string, unknown>> | undefined {
    const meta = this.#scope.params?.['_meta'];
    return isObject(meta) ? meta : undefined;
  }

  get requestInfo(): { headers: Readonly<Record<string, string>> } {
    const { request, authInfo } = this.#scope.exchange.caller;
    if (!request) return { headers: {} };
    if (!authInfo || authInfo.token !== undefined) return { headers: request.headers };
    const { authorization: _, ...headers } = request.headers;
    return { headers };
  }

  get clientInfo(): McpExtra['clientInfo'] {
    return this.#scope.clientInfo;
  }

  get signal(): AbortSignal {
    return this.#scope.exchange.signal;
  }

  closeSSEStream(): void {
    this.#scope.exchange.closeStream();
  }

  async sendNotification({ method, params }: { method: string; params?: Record<string, unknown> }): Promise<void> {
    this.#scope.exchange.notify(method, params ?? {});
  }

  /** As in the official SDK, options may stand behind a result schema, which is not needed here. */
  sendRequest(
    request: { method: string; params?: Record<string, unknown> },
    ...[first, second]: unknown[]
  ): Promise<unknown> {
    const options = isObject(second) ? second : isObject(first) && !('parse' in first) ? first : {};
    return ask(this.#scope, () => rawQuestion(request), options);
  }
}

/**
 * Asks, and never leaves a rejection unhandled: a tool that does not wait for its question must not end the process when a client
 * cannot answer, or goes away.
 */
function ask<Answer>(
  scope: RequestScope,
  question: () => ClientQuestion<Answer>,
  options: ElicitOptions = {},
): Promise<Answer> {
  const asked = (async () => scope.ask(question(), options))();
  asked.catch(() => {});
  return asked;
}
