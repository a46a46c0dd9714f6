import { randomUUID } from 'node:crypto';
import { toErrorMessage } from '@quiver/core';
import type { CallToolResult, ProtocolTool } from '../../protocol/client-types.js';
import { errorCodes } from '../../protocol/constants.js';
import { isObject } from '../../protocol/json-rpc.js';
import type { Answer } from '../link/direct/answer.js';
import { requestDirectly } from '../link/direct/direct-request.js';
import { toPlainCallResult } from '../link/direct/plain-result.js';
import { repeatsArguments } from '../link/direct/repeats-arguments.js';
import type { RequestContextLike } from '../link/request-scope.js';
import type { ServerHandle } from '../server-handle.js';
import type { ProgressUpdate } from '../connection/server-handlers.js';

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
  requestContext?: RequestContextLike;
  /** The progress token. Default: a random UUID. */
  runId?: string;
}

/** Calls a tool of a server without a model and without validation on the client, and reports the call to the server's logger. */
export async function callTool(
  server: ServerHandle,
  options: Omit<CallToolOptions, 'serverName'>,
  known?: ProtocolTool,
): Promise<CallToolResult> {
  const { name, requestContext, runId = randomUUID() } = options;
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
  const tool = known ?? tools.peek()?.find((listed) => listed.name === name);
  const { enableProgressTracking = true, retryIdempotent = 0 } = options;
  const { idempotentHint, readOnlyHint } = tool?.annotations ?? {};
  const isHarmless = idempotentHint === true || readOnlyHint === true;
  const tracked = enableProgressTracking || settings.onProgress !== undefined;
  return connection.request(
    (connected, requestOptions, progressToken) => {
      const { link, changes } = connected;
      const params = {
        name,
        arguments: args,
        _meta: { ...meta, ...connection.metaFor(connected), ...(progressToken !== undefined && { progressToken }) },
      };
      const era = changes ? 'modern' : 'legacy';
      return requestDirectly(
        link,
        {
          method: 'tools/call',
          params,
          name,
          isDirect: !changes || isSimple(name, tool),
          parse: (result) => toPlainCallResult(result, era, tool),
          viaSdk: async (sdkOptions, answer) => {
            const client = await link.client();
            if (!changes) return client.request({ method: 'tools/call', params }, sdkOptions);
            // The stateless revision repeats some arguments in headers, for which the SDK looks at the schema. When the server
            // found them wrong, the SDK has to ask for the schema first.
            const known = link.schemas?.has(name) || isHeaderMismatch(answer) ? undefined : tool;
            return client.callTool(params, { ...sdkOptions, ...(known && { toolDefinition: known }) });
          },
        },
        requestOptions,
      );
    },
    {
      ...settings,
      retries: isHarmless ? retryIdempotent : 0,
      ...(tracked && { progressToken: runId }),
    },
  );
}

/** Tells whether the headers of a call only have to repeat the tool's name, as it is. */
function isSimple(name: string, tool: ProtocolTool | undefined): boolean {
  if (!/^[\x21-\x7E]+$/.test(name) || name.startsWith('=?')) return false;
  return !tool || !repeatsArguments(tool.inputSchema);
}

function isHeaderMismatch(answer: Answer | undefined): boolean {
  if (answer?.kind === 'message') return codeOf(answer.message) === errorCodes.headerMismatch;
  if (!answer?.text?.includes(String(errorCodes.headerMismatch))) return false;
  try {
    return codeOf(JSON.parse(answer.text)) === errorCodes.headerMismatch;
  } catch {
    return false;
  }
}

function codeOf(message: unknown): unknown {
  return isObject(message) && isObject(message['error']) ? message['error']['code'] : undefined;
}
