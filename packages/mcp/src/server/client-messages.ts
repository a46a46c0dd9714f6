import { QuiverError } from '@quiver/core';
import {
  anyValue,
  checkOptions,
  signalValue,
  type CheckOptionsSettings,
  type OptionChecks,
} from '@quiver/core/options';
import type { ElicitOptions, McpExtra, ToolMcpContext } from '@quiver/core/tools';
import { isLoggingLevel, loggingLevels, type LoggingLevel } from '../protocol/constants.js';
import { isObject } from '../protocol/json-rpc.js';
import {
  elicitationRequest,
  rawRequest,
  rootsRequest,
  samplingRequest,
  type ClientRequest,
} from './client-requests.js';
import { toJsonSafe } from './json-safe.js';

export const elicitChecks: OptionChecks<ElicitOptions> = { key: anyValue, timeout: anyValue, signal: signalValue };

const noProgress = 'requests to the client have no progress.';

/** Options of requests in the official SDK. */
export const elicitSettings: CheckOptionsSettings = {
  withoutEffect: {
    onprogress: noProgress,
    resetTimeoutOnProgress: noProgress,
    maxTotalTimeout: 'timeout limits the whole request.',
  },
};

function requireOptions(name: string, options: ElicitOptions = {}): void {
  checkOptions(name, options, elicitChecks, elicitSettings);
}

/**
 * Messages that tools and callbacks send to the client of their request: requests for input, progress, log messages. The members are
 * getters of functions that need no `this`, so that tools may take them apart: `const { sample } = context.mcp`.
 */
export abstract class ClientMessages {
  abstract get _meta(): Readonly<Record<string, unknown>> | undefined;
  /** Least severe level that the client wants to receive; `undefined` for no log messages. */
  abstract get logLevel(): LoggingLevel | undefined;
  abstract notify(method: string, params: object): void;
  /** Sends a request to the client and returns its checked result. */
  protected abstract ask<Result>(create: () => ClientRequest<Result>, options?: ElicitOptions): Promise<Result>;

  get elicitation(): ToolMcpContext['elicitation'] {
    return {
      sendRequest: (request, options) =>
        this.ask(() => {
          requireOptions('elicitation.sendRequest', options);
          return elicitationRequest(request);
        }, options),
    };
  }

  get sample(): ToolMcpContext['sample'] {
    return (request, options) =>
      this.ask(() => {
        requireOptions('sample', options);
        return samplingRequest(request);
      }, options);
  }

  get roots(): ToolMcpContext['roots'] {
    return (options) =>
      this.ask(() => {
        requireOptions('roots', options);
        return rootsRequest();
      }, options);
  }

  get progress(): ToolMcpContext['progress'] {
    return async (update) => this.sendProgress(update);
  }

  get log(): ToolMcpContext['log'] {
    return async (level, message, data) => this.#sendLog(level, message, data);
  }

  get sendNotification(): NonNullable<McpExtra['sendNotification']> {
    return async ({ method, params }) => this.notify(method, params ?? {});
  }

  /** As in the official SDK, options may follow a result schema, which is not needed here. */
  get sendRequest(): NonNullable<McpExtra['sendRequest']> {
    return (request, ...[first, second]: unknown[]) => {
      const options = isObject(second) ? second : isObject(first) && !('parse' in first) ? first : {};
      return this.ask(() => rawRequest(request), options);
    };
  }

  protected sendProgress(update: Parameters<ToolMcpContext['progress']>[0]): void {
    const progressToken = this._meta?.['progressToken'];
    if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return;
    this.notify('notifications/progress', { progressToken, ...update });
  }

  #sendLog(level: string, message: string, data: unknown): void {
    const { logLevel } = this;
    const named = level === 'warn' ? 'warning' : level;
    if (!isLoggingLevel(named)) {
      throw new QuiverError(
        'LOG_LEVEL_UNKNOWN',
        `'${level}' is not a log level of the protocol; use one of ${loggingLevels.join(', ')}.`,
      );
    }
    if (logLevel === undefined || loggingLevels.indexOf(named) < loggingLevels.indexOf(logLevel)) return;
    this.notify('notifications/message', {
      level: named,
      data: data === undefined ? message : { message, data: toJsonSafe(data) },
    });
  }
}
