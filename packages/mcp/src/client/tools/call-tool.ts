import { toErrorMessage } from '@quiver/core';
import type { AnyRequestContext } from '@quiver/core/tools';
import type { CallToolResult, ProtocolTool } from '../../protocol/types.js';
import { errorCodes } from '../../protocol/constants.js';
import type { Params } from '../../protocol/json-rpc.js';
import { declaredParamHeaders, toParamHeaders } from '../../protocol/param-headers.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { ProgressUpdate } from '../config/handlers.js';
import type { Engine, EngineRequestOptions } from '../engine/engine.js';
import type { RemoteServer } from '../server/remote-server.js';

/** Options of `mcp.callTool()`. */
export interface CallToolOptions {
  serverName: string;
  /** The server's own name of the tool. */
  name: string;
  args?: Record<string, unknown>;
  /** `_meta` of the request. */
  meta?: Record<string, unknown>;
  signal?: AbortSignal;
  /** Milliseconds; 0 for no limit. Default: the timeout of the server. */
  timeout?: number;
  /** Whether progress restarts the timeout. Default: the setting of the server definition, `false`. */
  resetTimeoutOnProgress?: boolean;
  /** Milliseconds that progress cannot extend. */
  maxTotalTimeout?: number;
  onProgress?: (update: ProgressUpdate) => void;
  /** Request context of the caller, for `headers` and `fetch` of the server definition. */
  requestContext?: AnyRequestContext;
  /** The progress token. Default: a unique one. */
  runId?: string;
}

/**
 * Calls a tool of a server without a model and without validation on the client, and reports the call to the server's logger.
 *
 * @param known - the tool's definition, if the caller has it
 */
export async function callTool(
  server: RemoteServer,
  options: Omit<CallToolOptions, 'serverName'> & Pick<EngineRequestOptions, 'toolCallId'>,
  known?: ProtocolTool,
): Promise<CallToolResult> {
  const { name, args = {}, meta, runId = crypto.randomUUID(), requestContext, onProgress, toolCallId } = options;
  const { signal, timeout, maxTotalTimeout, resetTimeoutOnProgress } = options;
  const { enableProgressTracking = true, retryIdempotent = 0 } = server.options;
  const tools = server.list('tools/list');
  const find = (): ProtocolTool | undefined => tools.peek()?.find((listed) => listed.name === name);
  const tool = known ?? find();
  const isHarmless = tool?.annotations?.idempotentHint === true || tool?.annotations?.readOnlyHint === true;
  const isTracked = enableProgressTracking || onProgress !== undefined;
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
      await tools.get();
      return send(engine, to, find());
    });
  const call = { toolName: name, runId };
  server.log('debug', `Calling tool '${name}'.`, call, requestContext);
  try {
    const result = await server.request((engine, to) => (engine.isModern ? sendModern(engine, to) : send(engine, to)), {
      signal,
      timeout,
      maxTotalTimeout,
      resetTimeoutOnProgress,
      requestContext,
      onProgress,
      retries: isHarmless ? retryIdempotent : 0,
      progressToken: isTracked ? runId : undefined,
      toolCallId,
    });
    if (result.isError === true) server.log('warning', `Tool '${name}' returned an error.`, call, requestContext);
    else server.log('debug', `Tool '${name}' returned.`, call, requestContext);
    // The engine has checked the result.
    return result as CallToolResult;
  } catch (error) {
    server.log('error', `Tool '${name}' failed: ${toErrorMessage(error)}`, { ...call, error }, requestContext);
    throw error;
  }
}
