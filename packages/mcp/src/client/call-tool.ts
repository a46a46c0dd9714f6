import { randomUUID } from 'node:crypto';
import type { CallToolResult, ProtocolTool } from '../protocol/client-types.js';
import type { RequestContextLike } from './request-scope.js';
import type { ServerHandle } from './server-handle.js';
import type { ProgressUpdate } from './server-handlers.js';

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

/** Calls a tool of a server, without a model and without checking anything on this side. */
export async function callTool(
  { connection, options, tools }: ServerHandle,
  { name, args = {}, meta, runId = randomUUID(), ...settings }: Omit<CallToolOptions, 'serverName'>,
  known?: ProtocolTool,
): Promise<CallToolResult> {
  const tool = known ?? tools.peek()?.find((listed) => listed.name === name);
  const { enableProgressTracking = true, retryIdempotent = 0 } = options;
  const { idempotentHint, readOnlyHint } = tool?.annotations ?? {};
  const isHarmless = idempotentHint === true || readOnlyHint === true;
  const tracked = enableProgressTracking || settings.onProgress !== undefined;
  return connection.request(
    (connected, requestOptions, progressToken) => {
      const { client } = connected;
      const params = {
        name,
        arguments: args,
        _meta: { ...meta, ...connection.metaFor(connected), ...(progressToken !== undefined && { progressToken }) },
      };
      if (!connected.changes) return client.request({ method: 'tools/call', params }, requestOptions);
      // The stateless revision repeats some arguments in headers, for which the SDK looks at the schema.
      const isListed = connected.schemas.has(name);
      return client.callTool(params, { ...requestOptions, ...(!isListed && tool && { toolDefinition: tool }) });
    },
    {
      ...settings,
      retries: isHarmless ? retryIdempotent : 0,
      ...(tracked && { progressToken: runId }),
    },
  );
}
