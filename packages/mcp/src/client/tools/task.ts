import { isQuiverError, QuiverError } from '@quiver/core';
import type { CallToolResult } from '../../protocol/types.js';
import { errorCodes } from '../../protocol/constants.js';
import { isObject, type Params } from '../../protocol/json-rpc.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { EngineRequestOptions } from '../engine/call.js';
import { checkResult, requireTaskStatus } from '../engine/check-result.js';
import type { RemoteServer } from '../remote/remote-server.js';
import { tasksExtension } from '../remote/server-tasks.js';

/** Members that a task has in every state. */
export interface TaskDescription {
  /** The server's description of the current state, for example of its progress. */
  statusMessage?: string;
  /** Time of creation (ISO 8601). */
  createdAt?: string;
  /** Time of the last change (ISO 8601). */
  lastUpdatedAt?: string;
  /** Milliseconds from the creation until the server may forget the task; `null` for no limit. */
  ttlMs?: number | null;
  /** Milliseconds that the server asks clients to wait between two requests for the state. */
  pollIntervalMs?: number;
}

/** State of a tool call that its server runs as a task. */
export type RemoteTask = TaskDescription &
  (
    | { status: 'working' | 'cancelled' }
    /** `requiredCapabilities`: those that this client lacks to receive any of `inputRequests`, which then have a `method` only. */
    | {
        status: 'input_required';
        inputRequests: Record<string, unknown>;
        requiredCapabilities?: Record<string, unknown>;
      }
    /** `result`: the result that the call would have returned, also with `isError: true`. */
    | { status: 'completed'; result: CallToolResult }
    /** `error`: the JSON-RPC error that the call would have returned. */
    | { status: 'failed'; error: { code: number; message: string; data?: unknown } }
  );

/** Reads the state of a task. @throws `TypeError` when it violates the protocol, or belongs to another task */
async function readTask(taskId: string, received: Params): Promise<RemoteTask> {
  const invalid = (problem: string): TypeError => new TypeError(`Invalid result for tasks/get: ${problem}`);
  if (received['taskId'] !== taskId) throw invalid('taskId is the id of another task');
  const status = requireTaskStatus('tasks/get', received);
  const description = readDescription(received);
  if (status === 'input_required') {
    const { inputRequests = {} } = received;
    if (!isObject(inputRequests)) throw invalid('inputRequests is not an object');
    return { ...description, status, inputRequests };
  }
  if (status === 'completed') {
    if (!isObject(received['result'])) throw invalid('result is not an object');
    const { resultType = 'complete', ...result } = received['result'];
    if (resultType !== 'complete') throw invalid(`resultType of the result is ${JSON.stringify(resultType)}`);
    await checkResult('tools/call', 'CallToolResultSchema', result, true);
    return { ...description, status, result: result as CallToolResult };
  }
  if (status === 'failed') {
    const { code, message, data } = isObject(received['error']) ? received['error'] : {};
    if (!Number.isInteger(code) || typeof message !== 'string')
      throw invalid('error is not an error with a code and a message');
    return { ...description, status, error: { code: code as number, message, ...(data !== undefined && { data }) } };
  }
  return { ...description, status };
}

/** Reads the state of a task whose requests this client cannot provide, which an error of the server carries; otherwise `undefined`. */
function readUnsupported(taskId: string, error: unknown): RemoteTask | undefined {
  if (!(error instanceof ProtocolError) || error.code !== errorCodes.missingClientCapability) return undefined;
  const { requiredCapabilities, task } = isObject(error.data) ? error.data : {};
  if (!isObject(requiredCapabilities) || !isObject(task) || task['taskId'] !== taskId) return undefined;
  const { inputRequests } = task;
  if (task['status'] !== 'input_required' || !isObject(inputRequests)) return undefined;
  return { ...readDescription(task), status: 'input_required', inputRequests, requiredCapabilities };
}

/** Reads the members that only describe a task, and leaves out those of a wrong type. */
export function readDescription(received: Params): TaskDescription {
  const { statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs } = received;
  return {
    ...(typeof statusMessage === 'string' && { statusMessage }),
    ...(typeof createdAt === 'string' && { createdAt }),
    ...(typeof lastUpdatedAt === 'string' && { lastUpdatedAt }),
    ...((ttlMs === null || isPositive(ttlMs)) && { ttlMs }),
    ...(isPositive(pollIntervalMs) && { pollIntervalMs }),
  };
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value < Number.POSITIVE_INFINITY;
}

/** Requests the state of a task. @throws `MCP_TASK_NOT_FOUND`, `MCP_TASKS_UNSUPPORTED`, and as `RemoteServer.request` */
export function getTask(server: RemoteServer, taskId: string, options: EngineRequestOptions): Promise<RemoteTask> {
  return request(server, 'tasks/get', { taskId }, options, (received) => readTask(taskId, received)).catch(
    (error: unknown) => {
      const task = isQuiverError(error) ? readUnsupported(taskId, error.cause) : undefined;
      if (task) return task;
      throw error;
    },
  );
}

/** Sends responses to input requests of a task. The server ignores keys that it does not wait for. @throws as {@link getTask} */
export async function updateTask(
  server: RemoteServer,
  taskId: string,
  inputResponses: Record<string, unknown>,
  options: EngineRequestOptions,
): Promise<void> {
  await request(server, 'tasks/update', { taskId, inputResponses }, options, (received) => received);
}

/** Requests that the server cancels a task; a task that has ended does not change. @throws as {@link getTask} */
export async function cancelTask(server: RemoteServer, taskId: string, options: EngineRequestOptions): Promise<void> {
  await request(server, 'tasks/cancel', { taskId }, options, (received) => received);
}

function request<Result>(
  server: RemoteServer,
  method: string,
  params: Params & { taskId: string },
  options: EngineRequestOptions,
  read: (received: Params) => Result | Promise<Result>,
): Promise<Result> {
  const { name } = server;
  const call = { ...options, extension: tasksExtension };
  return server.request(async (engine) => {
    if (!engine.isModern || server.options.tasks === false)
      throw new QuiverError(
        'MCP_TASKS_UNSUPPORTED',
        `Cannot send '${method}' to MCP server '${name}': its connection has no tasks. They need protocol version 2026-07-28 (\`protocol: 'auto'\` or 'modern') and a definition without \`tasks: false\`.`,
      );
    try {
      return await read(await engine.request(method, params, call));
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.code !== errorCodes.invalidParams) throw error;
      throw new QuiverError(
        'MCP_TASK_NOT_FOUND',
        `MCP server '${name}' does not know the task: it never existed, it has expired, or it belongs to another caller. Call the tool again if it may run twice.`,
        { cause: error, details: { server: name, taskId: params.taskId } },
      );
    }
  }, call);
}
