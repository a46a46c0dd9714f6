import { toErrorMessage } from '@quiver/core';
import type { AnyRequestContext } from '@quiver/core/tools';
import type { CallToolResult, ProtocolTool } from '../../protocol/client-types.js';
import { errorCodes } from '../../protocol/constants.js';
import { declaredParamHeaders, toParamHeaders } from '../../protocol/param-headers.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { Engine, EngineRequestOptions, ProgressUpdate } from '../engine/engine.js';
import type { ListCache } from '../server/list-cache.js';
import type { ServerHandle } from '../server/server-handle.js';

export interface CallToolOptions {
  serverName: string;
  /** The server's own name of the tool. */
  name: string;
  args?: Record<string, unknown>;
  /** Goes into `_meta` of the request. */
  meta?: Record<string, unknown>;
  signal?: AbortSignal;
  /** Milliseconds. Default: the server's; 0 for no limit. */
  timeout?: number;
  /** Starts the time-out anew whenever the server reports progress. Default: the server definition's, `false`. */
  resetTimeoutOnProgress?: boolean;
  /** Milliseconds the call may take whatever is reported. */
  maxTotalTimeout?: number;
  onProgress?: (update: ProgressUpdate) => void;
  /** For whom the call is made; reaches `headers` and `fetch` of the server definition. */
  requestContext?: AnyRequestContext;
  /** The progress token. Default: a unique one. */
  runId?: string;
}

/** Calls a tool of a server without a model and without validation on the client, and reports the call to the server's logger. */
export async function callTool(
  server: ServerHandle,
  options: Omit<CallToolOptions, 'serverName'>,
  known?: ProtocolTool,
): Promise<CallToolResult> {
  const { name, requestContext, runId = createRunId() } = options;
  const call = { toolName: name, runId };
  server.log('debug', `Calling tool '${name}'.`, call, requestContext);
  try {
    const result = await sendCall(server, { ...options, runId }, known);
    if (result.isError === true) server.log('warning', `Tool '${name}' returned an error.`, call, requestContext);
    else server.log('debug', `Tool '${name}' returned.`, call, requestContext);
    return result;
  } catch (error) {
    server.log('error', `Tool '${name}' failed: ${toErrorMessage(error)}`, { ...call, error }, requestContext);
    throw error;
  }
}

async function sendCall(
  { connection, options, tools }: ServerHandle,
  { name, args = {}, meta, runId, ...settings }: Omit<CallToolOptions, 'serverName'> & { readonly runId: string },
  known: ProtocolTool | undefined,
): Promise<CallToolResult> {
  const tool = known ?? findTool(tools, name);
  const { enableProgressTracking = true, retryIdempotent = 0 } = options;
  const { idempotentHint, readOnlyHint } = tool?.annotations ?? {};
  const isHarmless = idempotentHint === true || readOnlyHint === true;
  const tracked = enableProgressTracking || settings.onProgress !== undefined;
  const send = async (
    engine: Engine,
    options: EngineRequestOptions,
    called?: ProtocolTool,
  ): Promise<CallToolResult> => {
    const headers = engine.isModern && called && toParamHeaders(declaredParamHeaders(called.inputSchema), args);
    const params = { name, arguments: args, _meta: { ...meta } };
    const result = await engine.request('tools/call', params, { ...options, ...(headers && { headers }) });
    // The engine has checked the result.
    return result as CallToolResult;
  };
  return connection.request(
    async (engine, requestOptions) => {
      try {
        return await send(engine, requestOptions, tool);
      } catch (error) {
        const isMismatch = error instanceof ProtocolError && error.code === errorCodes.headerMismatch;
        if (!engine.isModern || !isMismatch) throw error;
        // The client does not know the tool, or its schema has changed: the headers did not repeat the arguments.
        tools.invalidate();
        await tools.get();
        return send(engine, requestOptions, findTool(tools, name));
      }
    },
    {
      ...settings,
      retries: isHarmless ? retryIdempotent : 0,
      ...(tracked && { progressToken: runId }),
    },
  );
}

function findTool(tools: ListCache<ProtocolTool>, name: string): ProtocolTool | undefined {
  return tools.peek()?.find((listed) => listed.name === name);
}

let processId: string | undefined;
let calls = 0;

/** Returns a unique id. A random UUID per call costs as much as the rest of a call over stdio. */
function createRunId(): string {
  // Not at import: edge runtimes forbid random values there.
  processId ??= crypto.randomUUID();
  calls += 1;
  return `${processId}-${calls}`;
}
