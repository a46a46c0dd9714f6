import { toErrorMessage } from '@quiver/core';
import { anyValue, functionValue, type OptionChecks } from '@quiver/core/options';
import type { CallToolResult, ProtocolTool } from '../../protocol/types.js';
import { errorCodes } from '../../protocol/constants.js';
import type { Params } from '../../protocol/json-rpc.js';
import { declaredParamHeaders, toParamHeaders } from '../../protocol/param-headers.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import { interactiveChecks, type InteractiveRequestOptions } from '../config/caller.js';
import type { ProgressUpdate } from '../config/handlers.js';
import { isCreatedTask, type CreatedTask } from '../engine/check-result.js';
import type { Engine, EngineRequestOptions } from '../engine/engine.js';
import type { RemoteServer } from '../server/remote-server.js';
import { awaitTask } from './await-task.js';

/** Options of `mcp.callTool()`. */
export interface CallToolOptions extends InteractiveRequestOptions {
  serverName: string;
  /** The server's own name of the tool. */
  name: string;
  args?: Record<string, unknown>;
  /** `_meta` of the request. */
  meta?: Record<string, unknown>;
  /** Milliseconds; 0 for no limit. Default: the timeout of the server, and its `taskTimeout` for a call that becomes a task. */
  timeout?: number;
  /** Whether progress restarts the timeout. Default: the setting of the server definition, `false`. */
  resetTimeoutOnProgress?: boolean;
  /** Milliseconds that progress cannot extend. For a task they begin with its creation. */
  maxTotalTimeout?: number;
  /** Receives the progress of this call, in addition to the handler of `mcp.progress.onUpdate()`. */
  onProgress?: ((update: ProgressUpdate) => void) | undefined;
  /** The progress token. Default: a unique one. */
  runId?: string;
}

export const callToolChecks: OptionChecks<CallToolOptions> = {
  ...interactiveChecks,
  serverName: anyValue,
  name: anyValue,
  args: anyValue,
  meta: anyValue,
  timeout: anyValue,
  resetTimeoutOnProgress: anyValue,
  maxTotalTimeout: anyValue,
  onProgress: functionValue,
  runId: anyValue,
};

/** Call of a tool. */
export type ToolCall = Omit<CallToolOptions, 'serverName'> & Pick<EngineRequestOptions, 'toolCallId'>;

/**
 * Calls a tool of a server without a model and without validation on the client, and reports the call to the server's logger. Waits for
 * the task that the server may run the call as.
 *
 * @param known - the tool's definition, if the caller has it
 */
export async function callTool(server: RemoteServer, options: ToolCall, known?: ProtocolTool): Promise<CallToolResult> {
  const { name, runId = crypto.randomUUID(), requestContext } = options;
  const call = { toolName: name, runId };
  let progress: ProgressUpdate | undefined;
  const onProgress = (update: ProgressUpdate): void => {
    progress = update;
    options.onProgress?.(update);
  };
  server.log('debug', `Calling tool '${name}'.`, call, requestContext);
  try {
    let result = await sendCall(server, options, runId, onProgress, known);
    if (isCreatedTask(result)) {
      server.log('debug', `Tool '${name}' runs as a task.`, call, requestContext);
      result = await awaitTask(server, result.taskId, { ...options, runId, isOwner: true, created: result, progress });
    }
    if (result.isError === true) server.log('warning', `Tool '${name}' returned an error.`, call, requestContext);
    else server.log('debug', `Tool '${name}' returned.`, call, requestContext);
    return result;
  } catch (error) {
    server.log('error', `Tool '${name}' failed: ${toErrorMessage(error)}`, { ...call, error }, requestContext);
    throw error;
  }
}

/** Sends a call. @returns its result, or the task that the server runs it as */
export function sendCall(
  server: RemoteServer,
  options: ToolCall,
  runId: string,
  onProgress: CallToolOptions['onProgress'] = options.onProgress,
  known?: ProtocolTool,
): Promise<CallToolResult | CreatedTask> {
  const { name, args = {}, meta, requestContext, onElicitation, onSampling, toolCallId } = options;
  const { signal, timeout, maxTotalTimeout, resetTimeoutOnProgress } = options;
  const { enableProgressTracking = true, retryIdempotent = 0 } = server.options;
  const tools = server.list('tools/list');
  const find = (list: readonly ProtocolTool[] | undefined): ProtocolTool | undefined =>
    list?.find((listed) => listed.name === name);
  const tool = known ?? find(tools.peek(requestContext)) ?? find(tools.peek());
  const isHarmless = tool?.annotations?.idempotentHint === true || tool?.annotations?.readOnlyHint === true;
  const params = { name, arguments: args, _meta: { ...meta } };
  const send = (engine: Engine, to: EngineRequestOptions, called?: ProtocolTool): Promise<Params> => {
    const headers = called && toParamHeaders(declaredParamHeaders(called.inputSchema), args);
    return engine.request('tools/call', params, headers ? { ...to, headers } : to);
  };
  const sendModern = (engine: Engine, to: EngineRequestOptions): Promise<Params> =>
    send(engine, to, tool).catch(async (error: unknown) => {
      if (!(error instanceof ProtocolError) || error.code !== errorCodes.headerMismatch) throw error;
      // The client does not know the tool, or its schema has changed: the headers did not repeat the arguments.
      tools.invalidate();
      const { items } = await tools.get(requestContext);
      return send(engine, to, find(items));
    });
  const result = server.request((engine, to) => (engine.isModern ? sendModern(engine, to) : send(engine, to)), {
    signal,
    timeout,
    maxTotalTimeout,
    resetTimeoutOnProgress,
    requestContext,
    onElicitation,
    onSampling,
    onProgress,
    retries: isHarmless ? retryIdempotent : 0,
    progressToken: enableProgressTracking || options.onProgress ? runId : undefined,
    toolCallId,
  });
  // The engine has checked the result.
  return result as Promise<CallToolResult | CreatedTask>;
}
