import { QuiverError } from '@quiver/core';
import { anyValue, checkOptions, functionValue, type OptionChecks } from '@quiver/core/internal';
import type { CallToolResult } from '../../protocol/types.js';
import { isObject } from '../../protocol/json-rpc.js';
import {
  forCaller,
  interactiveChecks,
  requestChecks,
  withHandlers,
  type Caller,
  type InteractiveRequestOptions,
  type RequestOptions,
} from '../config/caller.js';
import type { ProgressUpdate } from '../config/handlers.js';
import { isCreatedTask } from '../engine/check-result.js';
import type { RemoteServer } from '../remote/remote-server.js';
import type { SharedServers } from '../remote/shared-servers.js';
import { awaitTask } from './await-task.js';
import { callToolChecks, sendCall, type CallToolOptions } from './call-tool.js';
import { cancelTask, getTask, updateTask, type RemoteTask } from './task.js';

/** A started tool call, which JSON keeps for another process. The id may be all that the server checks: store it like a credential. */
export type TaskHandle =
  | { serverName: string; name: string; taskId: string }
  /** The server did not run the call as a task, and returned its result. */
  | { serverName: string; name: string; result: CallToolResult };

/** Options of `mcp.tasks.result()`. */
export interface TaskResultOptions extends InteractiveRequestOptions {
  /** Receives the status messages of the task. */
  onProgress?: ((update: ProgressUpdate) => void) | undefined;
  /** Milliseconds to wait. Default: `tasks.timeout` of the server. */
  maxTotalTimeout?: number;
}

/** Tool calls that outlive their caller, see {@link MCPClient.tasks}. */
export interface ClientTasks {
  /** Calls a tool, and does not wait for the task that the server may run it as. @throws as `mcp.callTool()` */
  start(options: CallToolOptions): Promise<TaskHandle>;
  /** Returns the state of a task. @throws `MCP_CLIENT_GET_TASK_FAILED`; `details.reason` is `MCP_TASK_NOT_FOUND` for an unknown task */
  get(handle: TaskHandle, options?: RequestOptions): Promise<RemoteTask>;
  /**
   * Waits for the end of a task, as `mcp.callTool()` does. The end of the wait, by a timeout or the signal, does not cancel the task.
   *
   * @throws `MCP_CLIENT_TOOL_EXECUTION_FAILED`; `details.reason` is for example `MCP_TASK_CANCELLED` or `MCP_TASK_NOT_FOUND`
   */
  result(handle: TaskHandle, options?: TaskResultOptions): Promise<CallToolResult>;
  /** Requests that the server cancels a task. A task that has ended does not change. @throws `MCP_CLIENT_CANCEL_TASK_FAILED` */
  cancel(handle: TaskHandle, options?: RequestOptions): Promise<void>;
  /**
   * Responds to some or all of the `inputRequests` of a task, by key, without the handlers of the client.
   *
   * @throws `MCP_CLIENT_UPDATE_TASK_FAILED`
   */
  update(handle: TaskHandle, inputResponses: Record<string, unknown>, options?: RequestOptions): Promise<void>;
}

const resultChecks: OptionChecks<TaskResultOptions> = {
  ...interactiveChecks,
  onProgress: functionValue,
  maxTotalTimeout: anyValue,
};

export function createClientTasks(servers: SharedServers, caller: Caller): ClientTasks {
  const prepare = (method: string, handle: TaskHandle, given: RequestOptions) => {
    checkOptions(`mcp.tasks.${method}`, given, requestChecks);
    return { ...readHandle(handle), options: forCaller(caller, given) };
  };
  return {
    start: async (given) => {
      checkOptions('mcp.tasks.start', given, callToolChecks);
      const { serverName, ...options } = withHandlers(caller, given);
      const { name, runId = crypto.randomUUID() } = options;
      const run = async (server: RemoteServer): Promise<TaskHandle> => {
        const sent = await sendCall(server, options, runId);
        return isCreatedTask(sent) ? { serverName, name, taskId: sent.taskId } : { serverName, name, result: sent };
      };
      return servers.run('TOOL_EXECUTION', serverName, run, options.signal);
    },
    get: async (handle, given = {}) => {
      const { serverName, taskId, result, options } = prepare('get', handle, given);
      if (result) return { status: 'completed', result };
      return servers.run('GET_TASK', serverName, (server) => getTask(server, taskId, options), options.signal);
    },
    result: async (handle, given = {}) => {
      checkOptions('mcp.tasks.result', given, resultChecks);
      const { maxTotalTimeout, ...options } = withHandlers(caller, given);
      const { serverName, taskId, result } = readHandle(handle);
      if (result) return result;
      const settings = { ...options, timeout: maxTotalTimeout, runId: taskId, isOwner: false };
      return servers.run('TOOL_EXECUTION', serverName, (server) => awaitTask(server, taskId, settings), options.signal);
    },
    cancel: async (handle, given = {}) => {
      const { serverName, taskId, result, options } = prepare('cancel', handle, given);
      if (result) return;
      await servers.run('CANCEL_TASK', serverName, (server) => cancelTask(server, taskId, options), options.signal);
    },
    update: async (handle, inputResponses, given = {}) => {
      const { serverName, taskId, result, options } = prepare('update', handle, given);
      if (result) return;
      if (!isObject(inputResponses))
        throw invalidHandle('`inputResponses` must be an object with one response per key.');
      const run = (server: RemoteServer): Promise<void> => updateTask(server, taskId, inputResponses, options);
      await servers.run('UPDATE_TASK', serverName, run, options.signal);
    },
  };
}

/** @throws `MCP_TASK_HANDLE_INVALID` */
function readHandle(handle: unknown): { serverName: string; taskId: string; result: CallToolResult | undefined } {
  const { serverName, taskId, result } = isObject(handle) ? handle : {};
  if (typeof serverName === 'string') {
    if (isObject(result)) return { serverName, taskId: '', result: result as CallToolResult };
    if (typeof taskId === 'string' && taskId !== '') return { serverName, taskId, result: undefined };
  }
  throw invalidHandle(
    'A task handle must be the object that `mcp.tasks.start()` returned, or a copy by JSON: with `serverName` and `taskId`, or with `serverName` and `result`.',
  );
}

function invalidHandle(message: string): QuiverError {
  return new QuiverError('MCP_TASK_HANDLE_INVALID', message);
}
