import { getDefaultLogger, toErrorMessage } from '@quiver/core';
import { isLoggingLevel } from '../../protocol/constants.js';
import type { JsonRpcNotification, Params } from '../../protocol/json-rpc.js';
import { invalidParams, methodNotFound } from '../../protocol/protocol-error.js';
import { findShapeError } from '../../protocol/schemas.js';
import { toProgressUpdate, type Application } from '../engine/engine.js';
import { answerElicitation } from './elicitation.js';
import type { ServerLog } from '../server/log-message.js';
import type { SamplingRequest } from './sampling.js';
import type { ListKind, ServerHandlers } from '../config/server-handlers.js';

export interface ApplicationOptions {
  readonly serverName: string;
  readonly handlers: ServerHandlers;
  readonly log: ServerLog;
  readonly enableServerLogs: boolean;
  readonly onListChanged: (kind: ListKind) => void;
}

const listKinds = ['tools', 'resources', 'prompts'] as const;

/** Returns the engine's view of the application: its handlers for requests and notifications of a server. */
export function createApplication(options: ApplicationOptions): Application {
  return {
    respond: (method, params, signal) => respond(options, method, params, signal),
    notify: (notification) => receive(options, notification),
  };
}

async function respond(
  { serverName, handlers }: ApplicationOptions,
  method: string,
  params: Params,
  signal: AbortSignal,
): Promise<Params> {
  const { elicitation, sampling, roots } = handlers;
  if (method === 'elicitation/create' && elicitation) {
    if (typeof params['message'] !== 'string') throw invalidParams('Invalid params: message is required');
    return { ...(await answerElicitation(serverName, params, elicitation)) };
  }
  if (method === 'sampling/createMessage' && sampling) {
    const problem = await findShapeError('CreateMessageRequestParamsSchema', params);
    if (problem !== undefined) throw invalidParams(`Invalid params: ${problem}`);
    const request = { ...params, serverName } as unknown as SamplingRequest;
    return { ...(await sampling(request, { signal })) };
  }
  if (method === 'roots/list' && roots) return { roots: typeof roots === 'function' ? await roots() : roots };
  throw methodNotFound(method);
}

/** Passes a notification to its handlers. Unknown and malformed notifications are ignored. */
function receive(
  { serverName, handlers, log, enableServerLogs, onListChanged }: ApplicationOptions,
  { method, params = {} }: JsonRpcNotification,
): void {
  if (method === 'notifications/progress') {
    if (typeof params['progress'] === 'number')
      isolated('progress', () => handlers.onProgress?.(toProgressUpdate(params)));
  } else if (method === 'notifications/message') {
    const { level, data } = params;
    if (enableServerLogs && isLoggingLevel(level) && data !== undefined)
      log(level, typeof data === 'string' ? data : JSON.stringify(data), params);
  } else if (method === 'notifications/resources/updated') {
    const { uri } = params;
    if (typeof uri === 'string') isolated('resource', () => handlers.onResourceUpdated?.({ uri }));
  } else {
    const kind = listKinds.find((candidate) => method === `notifications/${candidate}/list_changed`);
    if (!kind) return;
    onListChanged(kind);
    isolated(kind, () => handlers.onListChanged[kind]?.());
  }

  /** An error of a handler is not an error of the server. */
  function isolated(what: string, run: () => unknown): void {
    const report = (error: unknown): void =>
      getDefaultLogger().error(
        `The ${what} handler for MCP server '${serverName}' threw: ${toErrorMessage(error)}`,
        error,
      );
    try {
      const result = run();
      if (result instanceof Promise) result.catch(report);
    } catch (error) {
      report(error);
    }
  }
}
