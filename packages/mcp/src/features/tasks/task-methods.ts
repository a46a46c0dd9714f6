import { Result } from '../../content.js';
import type { McpAuthInfo } from '@quiver/core/tools';
import { errorCodes, TASKS_EXTENSION } from '../../protocol/constants.js';
import { isObject, type Params } from '../../protocol/json-rpc.js';
import { invalidParams, ProtocolError } from '../../protocol/protocol-error.js';
import { storableAuthInfo } from '../../server/caller.js';
import { missingCapabilities } from '../../server/client/client-requests.js';
import { toJsonSafe } from '../../server/tools/json-safe.js';
import type { Feature } from '../../server/feature.js';
import type { ServerRequest } from '../../server/request.js';
import type { Tasks } from './tasks.js';
import { missingForInput, taskMembers, type StoredCall, type TaskRecord } from './task-record.js';

const required = { extensions: { [TASKS_EXTENSION]: {} } };

/** Returns whether the client of a request supports tasks. The declaration is valid for this request only. */
export function supportsTasks({ era, client }: ServerRequest): boolean {
  return era === 'modern' && !missingCapabilities(required, client.clientCapabilities);
}

/** @throws ProtocolError -32021 with HTTP status 400 when the client does not support tasks */
export function requireTasks(request: ServerRequest): void {
  if (supportsTasks(request)) return;
  throw new ProtocolError(
    errorCodes.missingClientCapability,
    `The client must declare the extension ${TASKS_EXTENSION} in this request.`,
    // Legacy clients treat other statuses as errors of the transport.
    { httpStatus: request.era === 'modern' ? 400 : 200, data: { requiredCapabilities: required } },
  );
}

/**
 * Returns the call of a task that another instance may run again, without tokens and headers.
 *
 * @param args - arguments of the call; a hook may have replaced those of the client
 * @param callerData - names of data about the caller
 */
export function storedCallOf(
  request: ServerRequest,
  args: Params | undefined,
  callerData: readonly string[],
): StoredCall {
  const { requestId, caller, callParams, requestContext } = request;
  const { authInfo } = caller;
  const { inputResponses: _, requestState: __, ...kept } = callParams ?? {};
  const entries = callerData
    .filter((key) => requestContext.has(key))
    .map((key) => [key, toJsonSafe(requestContext.get(key))] as const);
  return {
    requestId,
    params: { ...kept, ...(args && { arguments: args }) },
    ...(authInfo && { authInfo: toJsonSafe(storableAuthInfo(authInfo, callerData)) as McpAuthInfo }),
    requestContext: Object.fromEntries(entries),
  };
}

/** The task is unchanged, so that a request of a client with the capability, in another process, receives the requests. */
function missingInput(data: NonNullable<ReturnType<typeof missingForInput>>): ProtocolError {
  const capabilities = JSON.stringify(data.requiredCapabilities);
  return new ProtocolError(
    errorCodes.missingClientCapability,
    `The task waits for input, but the client did not declare the capability ${capabilities} in this request.`,
    { httpStatus: 400, data },
  );
}

/** The methods of tasks. @throws ProtocolError -32021 when the request does not declare the extension, -32602 for an unknown task */
export function createTaskMethods(tasks: Tasks): NonNullable<Feature['methods']> {
  const find = async (request: ServerRequest): Promise<TaskRecord> => {
    requireTasks(request);
    return tasks.find(request.params?.['taskId'], request.caller.principal ?? '');
  };
  return {
    'tasks/get': async (request) => {
      const { clientCapabilities } = request.client;
      const task = await find(request);
      // All requests that the task waits for are ones that the client cannot answer.
      const missing = missingForInput(task, clientCapabilities);
      if (missing) throw missingInput(missing);
      return Result.of(taskMembers(task, clientCapabilities));
    },
    'tasks/update': async (request) => {
      requireTasks(request);
      const responses = request.params?.['inputResponses'];
      if (!isObject(responses)) throw invalidParams('tasks/update needs inputResponses, an object.');
      await tasks.update(await find(request), responses);
      return Result.of({});
    },
    'tasks/cancel': async (request) => {
      await tasks.cancel(await find(request));
      return Result.of({});
    },
  };
}
