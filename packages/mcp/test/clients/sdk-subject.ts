import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { isQuiverError } from '@quiver/core';
import { defaultClientInfo } from '../../src/client/config/client-info.js';
import type { HttpServerDefinition, StdioServerDefinition } from '../../src/client/config/server-definition.js';

/** Observable state of the SDK's client, in the terms of `ServerHandle`. */
export interface SdkSubject {
  listTools(): Promise<unknown>;
  callTool(call: {
    name: string;
    args?: Record<string, unknown>;
    runId?: string;
    signal?: AbortSignal;
    /** Default: the common one. */
    timeout?: number;
  }): Promise<unknown>;
  status(): unknown;
  readonly sessionId: string | undefined;
  disconnect(): Promise<void>;
}

export interface SdkSubjectOptions {
  readonly definition: HttpServerDefinition | StdioServerDefinition;
  readonly timeout: number;
  readonly onProgress?: (update: unknown) => void;
  readonly onLog?: (message: string) => void;
  readonly onToolsChanged?: () => void;
}

/** The SDK's client, used as the connection of a server definition uses the engine: HTTP+SSE as a fallback, one new session. */
export function createSdkSubject(options: SdkSubjectOptions): SdkSubject {
  const { definition, timeout, onProgress, onLog, onToolsChanged } = options;
  let connected: { client: Client; transport: Transport } | undefined;

  const connectOver = async (transport: Transport, mode: 'auto' | 'legacy' | { pin: string }) => {
    const client = new Client(defaultClientInfo, {
      capabilities: {},
      versionNegotiation: { mode },
      jsonSchemaValidator: {
        getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
      },
    });
    client.setNotificationHandler('notifications/progress', ({ params: { progressToken, progress, total, message } }) =>
      onProgress?.({
        progressToken: String(progressToken),
        progress,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message }),
      }),
    );
    client.setNotificationHandler('notifications/message', ({ params: { data } }) => onLog?.(`[it] ${String(data)}`));
    client.setNotificationHandler('notifications/tools/list_changed', () => onToolsChanged?.());
    const { connectTimeout = 3000 } = definition;
    let timer: NodeJS.Timeout | undefined;
    try {
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error('no response in time')), connectTimeout);
      });
      await Promise.race([client.connect(transport, { timeout: connectTimeout }), late]);
    } catch (error) {
      await client.close().catch(() => {});
      throw error;
    } finally {
      clearTimeout(timer);
    }
    return { client, transport };
  };
  const connectHttp = async ({
    url: address,
    requestInit,
    headers,
    protocol,
    fetch: ownFetch = fetch,
  }: HttpServerDefinition) => {
    const url = new URL(address);
    const withHeaders = async (to: string | URL, init?: RequestInit): Promise<Response> => {
      const added = typeof headers === 'function' ? await headers({ requestContext: undefined }) : headers;
      const merged = new Headers(init?.headers);
      merged.set('accept-encoding', 'identity');
      for (const [name, value] of Object.entries(added ?? {})) merged.set(name, value);
      return ownFetch(to, { ...init, headers: merged });
    };
    const init = { fetch: withHeaders, ...(requestInit && { requestInit }) };
    try {
      const mode = protocol === 'modern' ? { pin: '2026-07-28' } : (protocol ?? 'auto');
      return await connectOver(new StreamableHTTPClientTransport(url, init), mode);
    } catch (error) {
      const isOld = [400, 404, 405].includes(statusOf(error) ?? 0) && !/-320[2-9]\d/.test(textOf(error));
      if (!isOld || protocol === 'modern') throw error;
      return connectOver(new SSEClientTransport(url, init), 'legacy');
    }
  };
  const connect = async () => {
    connected ??=
      definition.command === undefined
        ? await connectHttp(definition as HttpServerDefinition)
        : await connectOver(
            new StdioClientTransport({ ...(definition as StdioServerDefinition), stderr: 'pipe' }),
            definition.protocol === 'modern' ? { pin: '2026-07-28' } : 'legacy',
          );
    return connected;
  };
  /** A lost session is replaced, and its request repeated, once. */
  const send = async <Result>(run: (client: Client) => Promise<Result>): Promise<Result> => {
    const { client, transport } = await connect().catch((error: unknown) => {
      throw Object.assign(new Error('connect', { cause: error }), { isConnect: true });
    });
    try {
      return await run(client);
    } catch (error) {
      if ((error as { status?: unknown }).status !== 404 || transport.sessionId === undefined) throw error;
      connected = undefined;
      return run((await connect()).client);
    }
  };

  return {
    listTools: () =>
      send(async (client) => (await client.listTools(undefined, { timeout, cacheMode: 'refresh' })).tools),
    callTool: ({ name, args = {}, runId = 'run', signal, timeout: ofCall = timeout }) => {
      const _meta = { progressToken: runId };
      const request = { timeout: ofCall, ...(signal && { signal }) };
      return send((client) => client.callTool({ name, arguments: args, _meta }, request));
    },
    status: () => {
      const { client } = connected ?? {};
      if (!client) return { state: 'failed' };
      const info = client.getServerVersion();
      const instructions = client.getInstructions();
      return {
        state: 'ready',
        protocolVersion: client.getNegotiatedProtocolVersion(),
        ...(info && {
          serverInfo: {
            name: info.name,
            version: info.version,
            ...(info.title !== undefined && { title: info.title }),
          },
        }),
        capabilities: client.getServerCapabilities(),
        ...(instructions !== undefined && { instructions }),
      };
    },
    get sessionId() {
      return connected?.transport.sessionId;
    },
    disconnect: async () => {
      const { client, transport } = connected ?? {};
      if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession().catch(() => {});
      await client?.close().catch(() => {});
    },
  };
}

/** The value of a promise, or its error reduced to what the SDK and this client both define: a code, and the codes of the server. */
export async function outcomeOf(running: Promise<unknown>): Promise<unknown> {
  try {
    return { value: await running };
  } catch (error) {
    if (isQuiverError(error)) {
      const { rpcCode, httpStatus } = error.details ?? {};
      return { error: { code: error.code, rpcCode, httpStatus } };
    }
    if (error instanceof Error && 'isConnect' in error)
      return { error: { code: 'MCP_CLIENT_CONNECT_FAILED', rpcCode: undefined, httpStatus: statusOf(error.cause) } };
    const isOfSdk = error instanceof SdkError || error instanceof ProtocolError || error instanceof Error;
    if (!isOfSdk || isAbort(error)) return { error: String(error).replace('SdkError: ', '') };
    return { error: { code: codeOf(error), rpcCode: rpcCodeOf(error), httpStatus: statusOf(error) } };
  }
}

function isAbort(error: Error): boolean {
  return error.message.includes('enough');
}

function codeOf(error: Error): string {
  const { code } = error as { code?: unknown };
  if (code === SdkErrorCode.RequestTimeout) return 'MCP_REQUEST_TIMEOUT';
  if (code === SdkErrorCode.ConnectionClosed || code === SdkErrorCode.NotConnected) return 'MCP_CONNECTION_CLOSED';
  if (error instanceof TypeError && /fetch failed|terminated/.test(error.message)) return 'MCP_CONNECTION_CLOSED';
  return 'MCP_REQUEST_FAILED';
}

function rpcCodeOf(error: Error): unknown {
  // Version 1 of the SDK has one class for local errors and those of the server.
  const { name, code } = error as { name: string; code?: unknown };
  return error instanceof ProtocolError || name === 'McpError' ? code : undefined;
}

function statusOf(error: unknown): number | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const { status, code, data } = at as { status?: unknown; code?: unknown; data?: { status?: unknown } };
    for (const candidate of [status, data?.status, code])
      if (typeof candidate === 'number' && candidate >= 100 && candidate < 600) return candidate;
  }
  return undefined;
}

function textOf(error: unknown): string {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const { data } = at as { data?: { text?: unknown } };
    if (typeof data?.text === 'string') return data.text;
  }
  return '';
}
