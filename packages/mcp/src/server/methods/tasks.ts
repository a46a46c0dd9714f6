import type { Answer } from '../../content.js';
import type { McpAuthInfo } from '@quiver/core/tools';
import { errorCodes, TASKS_EXTENSION } from '../../protocol/constants.js';
import { isObject, type Params } from '../../protocol/json-rpc.js';
import { invalidParams, ProtocolError } from '../../protocol/protocol-error.js';
import { storableAuthInfo } from '../auth-info.js';
import { missingCapabilities } from '../client-requests.js';
import { toJsonSafe } from '../json-safe.js';
import type { ServerRequest } from '../request.js';
import { missingForInput, taskMembers, type StoredCall } from '../tasks/task-record.js';

const required = { extensions: { [TASKS_EXTENSION]: {} } };

/** Returns whether the client of a request supports tasks. The declaration is valid for this request only. */
export function supportsTasks({ era, clientCapabilities }: ServerRequest): boolean {
  return era === 'modern' && !missingCapabilities(required, clientCapabilities);
}

/**
 * Refuses a request whose client does not support tasks.
 *
 * @throws ProtocolError -32021 with HTTP status 400
 */
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
 */
export function storedCallOf(
  { requestId, params, authInfo, requestContext, server }: ServerRequest,
  args: Params | undefined,
): StoredCall {
  const { inputResponses: _, requestState: __, ...kept } = params ?? {};
  const { callerData } = server.tasks;
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

/**
 * Answers `tasks/get`, `tasks/update` and `tasks/cancel`.
 *
 * @throws ProtocolError -32021 when the request does not declare the extension, or the state of the task consists of requests that its
 *   client cannot provide; -32602 for an unknown task or invalid params
 */
export async function answerTaskRequest(request: ServerRequest): Promise<Answer> {
  requireTasks(request);
  const { server, method, params, principal = '' } = request;
  const responses = params?.['inputResponses'];
  if (method === 'tasks/update' && !isObject(responses))
    throw invalidParams('tasks/update needs inputResponses, an object.');
  const task = await server.tasks.find(params?.['taskId'], principal);
  if (method === 'tasks/get') {
    const missing = missingForInput(task, request.clientCapabilities);
    if (missing) throw missingInput(missing);
    return { members: taskMembers(task, request.clientCapabilities) };
  }
  if (isObject(responses) && method === 'tasks/update') await server.tasks.update(task, responses);
  else await server.tasks.cancel(task);
  return `{${server.modernResultEnd}`;
}
