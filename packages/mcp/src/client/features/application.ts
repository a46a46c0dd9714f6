import { getDefaultLogger, toErrorMessage } from '@quiver/core';
import { isLoggingLevel } from '../../protocol/constants.js';
import type { JsonRpcNotification, Params } from '../../protocol/json-rpc.js';
import { listChanges, listKinds } from '../../protocol/methods.js';
import { invalidParams, methodNotFound } from '../../protocol/protocol-error.js';
import { findShapeError } from '../../protocol/schemas.js';
import type { SamplingRequest } from '../config/handlers.js';
import { toProgressUpdate } from '../engine/engine.js';
import type { Application } from '../engine/respond-to-input.js';
import type { EngineRequestOptions } from '../engine/call.js';
import type { RemoteServer } from '../remote/remote-server.js';
import { answerElicitation } from './elicitation.js';

/** Returns the engine's view of the application: its handlers for requests and notifications of a server. */
export function createApplication(server: RemoteServer): Application {
  const { onMessage } = server.options;
  return {
    respond: (...request) => respond(server, ...request),
    notify: (notification) => receive(server, notification),
    onMessage:
      onMessage && ((message) => isolated(server, 'message', () => onMessage(message, { serverName: server.name }))),
  };
}

async function respond(
  server: RemoteServer,
  method: string,
  params: Params,
  signal: AbortSignal,
  call: EngineRequestOptions = {},
): Promise<Params> {
  const { name: serverName, handlers } = server;
  const { roots } = handlers;
  const { onElicitation: elicitation = handlers.elicitation, onSampling: sampling = handlers.sampling } = call;
  if (method === 'elicitation/create' && elicitation) {
    if (typeof params['message'] !== 'string') throw invalidParams('Invalid params: message is required');
    try {
      return { ...(await answerElicitation(serverName, params, elicitation, signal)) };
    } catch (error) {
      // The server receives the error, and the application no other sign of it.
      server.log('error', `An elicitation request was not answered: ${toErrorMessage(error)}`, error);
      throw error;
    }
  }
  if (method === 'sampling/createMessage' && sampling) {
    const problem = await findShapeError('CreateMessageRequestParamsSchema', params);
    if (problem !== undefined) throw invalidParams(`Invalid params: ${problem}`);
    const request = { ...params, serverName } as unknown as SamplingRequest;
    if (typeof sampling === 'function') return { ...(await sampling(request, { signal })) };
    // Loaded on demand, with the models of the AI SDK.
    const { sampleFromModel } = await import('./sampling.js');
    return { ...(await sampleFromModel(sampling, request, signal)) };
  }
  if (method === 'roots/list' && roots) return { roots: typeof roots === 'function' ? await roots() : roots };
  if (call.relay) return call.relay.respond(method, params, signal);
  throw methodNotFound(method);
}

/** Passes a notification to its handlers. Unknown and malformed notifications are ignored. */
function receive(server: RemoteServer, { method, params = {} }: JsonRpcNotification): void {
  const { handlers } = server;
  if (method === 'notifications/progress') {
    if (typeof params['progress'] === 'number')
      isolated(server, 'progress', () => handlers.onProgress?.(toProgressUpdate(params)));
  } else if (method === 'notifications/message') {
    const { level, data } = params;
    if (server.options.enableServerLogs !== false && isLoggingLevel(level) && data !== undefined)
      server.log(level, typeof data === 'string' ? data : JSON.stringify(data), params);
  } else if (method === 'notifications/resources/updated') {
    const { uri } = params;
    if (typeof uri === 'string') isolated(server, 'resource', () => handlers.onResourceUpdated?.({ uri }));
  } else {
    const kind = listKinds.find((candidate) => method === listChanges[candidate].notification);
    if (!kind) return;
    server.invalidate(kind);
    isolated(server, kind, () => handlers.onListChanged[kind]?.());
  }
}

/** Runs a handler. Its error is not an error of the server. */
function isolated({ name }: RemoteServer, what: string, run: () => unknown): void {
  const report = (error: unknown): void =>
    getDefaultLogger().error(`The ${what} handler for MCP server '${name}' threw: ${toErrorMessage(error)}`, error);
  try {
    const result = run();
    if (result instanceof Promise) result.catch(report);
  } catch (error) {
    report(error);
  }
}
