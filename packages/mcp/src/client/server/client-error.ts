import { isQuiverError, QuiverError, toErrorMessage } from '@quiver/core';

/** Name of an operation in its error code. */
export type ClientOperation =
  | 'GET_TOOLS'
  | 'GET_TOOLSETS'
  | 'LIST_RESOURCES'
  | 'LIST_RESOURCE_TEMPLATES'
  | 'READ_RESOURCE'
  | 'SUBSCRIBE_RESOURCE'
  | 'UNSUBSCRIBE_RESOURCE'
  | 'ON_UPDATED_RESOURCE'
  | 'ON_LIST_CHANGED_RESOURCE'
  | 'LIST_PROMPTS'
  | 'GET_PROMPT'
  | 'ON_LIST_CHANGED_PROMPT'
  | 'ON_LIST_CHANGED_TOOL'
  | 'ON_REQUEST_ELICITATION'
  | 'ON_UPDATE_PROGRESS'
  | 'TOOL_EXECUTION'
  | 'COMPLETE'
  | 'SET_ROOTS'
  | 'AUTHENTICATE'
  | 'RECONNECT';

/**
 * An error with the code `MCP_CLIENT_<operation>_FAILED`. `details.reason` is the code of its
 * cause.
 */
function toClientError(operation: ClientOperation, serverName: string | undefined, cause: unknown): QuiverError {
  return new QuiverError(`MCP_CLIENT_${operation}_FAILED`, toErrorMessage(cause), {
    cause,
    details: {
      ...(isQuiverError(cause) && { ...cause.details, reason: cause.code }),
      ...(serverName !== undefined && { server: serverName }),
      domain: 'MCP',
      category: 'THIRD_PARTY',
    },
  });
}

/** Runs an operation and throws its errors as client errors. The abort reason of the caller is thrown unchanged. */
export async function naming<Result>(
  operation: ClientOperation,
  serverName: string,
  run: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    signal?.throwIfAborted();
    throw toClientError(operation, serverName, error);
  }
}
