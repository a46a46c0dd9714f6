import { toErrorMessage } from '@quiver/core';
import { functionValue, type OptionChecks, unchecked } from '@quiver/core/internal';
import type { CallToolResult, ProtocolTool } from '../../protocol/types.js';
import type { Params } from '../../protocol/json-rpc.js';
import { declaredParamHeaders, toParamHeaders } from '../../protocol/param-headers.js';
import { repeats } from '../../repeats.js';
import { interactiveChecks, type InteractiveRequestOptions } from '../config/caller.js';
import type { ProgressUpdate } from '../config/handlers.js';
import type { EngineRequestOptions } from '../engine/call.js';
import { isCreatedTask, type CreatedTask } from '../engine/check-result.js';
import type { RemoteServer } from '../remote/remote-server.js';
import { awaitTask } from './await-task.js';

/** Options of `mcp.callTool()`. */
export interface CallToolOptions extends InteractiveRequestOptions {
  /** Name of the server. */
  serverName: string;
  /** The server's own name of the tool. */
  name: string;
  /** Arguments of the tool. Default none. */
  args?: Record<string, unknown>;
  /** `_meta` of the request. */
  meta?: Record<string, unknown>;
  /** Milliseconds; 0 for no limit. Default: the timeout of the server, and `tasks.timeout` for a call that becomes a task. */
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
  ...unchecked<CallToolOptions>()('serverName', 'name', 'args', 'meta', 'runId'),
  ...unchecked<CallToolOptions>()('timeout', 'resetTimeoutOnProgress', 'maxTotalTimeout'),
  onProgress: functionValue,
};

/** Call of a tool. */
export interface ToolCall extends EngineRequestOptions {
  readonly name: string;
  readonly args?: Record<string, unknown>;
  readonly meta?: Record<string, unknown>;
  readonly runId?: string | undefined;
  /** Members that continue the call after an `input_required` result that a relay returned. */
  readonly continued?: Params;
  /** The tool's definition, if the caller has it. */
  readonly tool?: ProtocolTool | undefined;
}

/** Calls a tool of a server, and waits for the task that the server may run the call as. The logger of the server receives the steps. */
export async function callTool(server: RemoteServer, call: ToolCall): Promise<CallToolResult> {
  const { name, runId = crypto.randomUUID(), requestContext } = call;
  const logged = { toolName: name, runId };
  let progress: ProgressUpdate | undefined;
  const onProgress = (update: ProgressUpdate): void => {
    progress = update;
    call.onProgress?.(update);
  };
  server.log('debug', `Calling tool '${name}'.`, logged, requestContext);
  try {
    let result = await sendCall(server, call, runId, onProgress);
    if (isCreatedTask(result)) {
      server.log('debug', `Tool '${name}' runs as a task.`, logged, requestContext);
      result = await awaitTask(server, result.taskId, { ...call, runId, isOwner: true, created: result, progress });
    }
    if (result.isError === true) server.log('warning', `Tool '${name}' returned an error.`, logged, requestContext);
    else server.log('debug', `Tool '${name}' returned.`, logged, requestContext);
    return result;
  } catch (error) {
    server.log('error', `Tool '${name}' failed: ${toErrorMessage(error)}`, { ...logged, error }, requestContext);
    throw error;
  }
}

/** Sends a call. @returns its result, or the task that the server runs it as */
export function sendCall(
  server: RemoteServer,
  given: ToolCall,
  runId: string,
  onProgress: ToolCall['onProgress'] = given.onProgress,
): Promise<CallToolResult | CreatedTask> {
  const { name, args = {}, meta, requestContext } = given;
  const { enableProgressTracking = true } = server.options;
  const lists = server.list('tools/list');
  const find = (list: readonly ProtocolTool[] | undefined): ProtocolTool | undefined =>
    list?.find((listed) => listed.name === name);
  const { tool = find(lists.peek({ requestContext })) ?? find(lists.peek()) } = given;
  const tracksProgress = enableProgressTracking && !given.relay;
  const progressToken = tracksProgress || given.onProgress ? runId : undefined;
  const extension = given.relay?.acceptsTasks === false ? undefined : server.tasks.ofCalls;
  const call: ToolCall = { ...given, onProgress, progressToken, extension };
  const params = { ...given.continued, name, arguments: args, _meta: { ...meta } };
  const result = server.request((engine) => {
    if (!engine.isModern) return engine.request('tools/call', params, call);
    return engine.request('tools/call', params, withHeaders(call, tool)).catch(async (error: unknown) => {
      if (!repeats.headerMismatch.isCause(error)) throw error;
      // The client does not know the tool, or its schema has changed: the headers did not repeat the arguments.
      lists.invalidate();
      const { items } = await lists.get({ requestContext });
      return engine.request('tools/call', params, withHeaders(call, find(items)));
    });
  }, call);
  // The engine has checked the result.
  return result as Promise<CallToolResult | CreatedTask>;
}

/** Adds the headers that repeat arguments. */
function withHeaders(call: ToolCall, tool: ProtocolTool | undefined): ToolCall {
  const headers = tool && toParamHeaders(declaredParamHeaders(tool.inputSchema), call.args ?? {});
  return headers ? { ...call, headers } : call;
}
