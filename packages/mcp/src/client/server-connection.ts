import { isQuiverError, QuiverError, toErrorMessage } from '@quiver/core';
import type {
  CallToolResult,
  JsonSchemaValidator,
  ProtocolClient,
  ProtocolTool,
  Transport,
} from '../protocol/client-types.js';
import { isObject } from '../protocol/json-rpc.js';
import { isEraKnown, rememberEra } from './era-memory.js';
import type { HttpServerDefinition, LoggingLevel, ServerTarget } from './server-definition.js';
import { StdioTransport } from './transports/stdio-transport.js';

export interface ServerConnectionOptions {
  readonly name: string;
  readonly target: ServerTarget;
  /** Milliseconds one request may take. */
  readonly timeout: number;
  readonly log: (level: LoggingLevel, message: string, details?: unknown) => void;
}

export interface RemoteCallOptions {
  readonly signal?: AbortSignal | undefined;
}

const defaultConnectTimeout = 3000;

/** A connection that is up, with what belongs to it. */
interface Connected {
  readonly client: ProtocolClient;
  readonly transport: Transport;
  /** The schemas as the server wrote them; the SDK's copies have another order of keys. */
  readonly schemas: Map<string, Pick<ProtocolTool, 'inputSchema' | 'outputSchema'>>;
  /** Requests that wait for an answer. */
  active: number;
}

/**
 * One server: connected on first use, by one attempt however many callers wait, and again after it was lost. A tool call is
 * never sent twice, except when the server refused it unread because it had forgotten the session.
 */
export class ServerConnection {
  readonly name: string;
  readonly #options: ServerConnectionOptions;
  #connecting: Promise<Connected> | undefined;
  #current: Connected | undefined;

  constructor(options: ServerConnectionOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** @throws `MCP_CLIENT_CONNECT_FAILED`, and as {@link callTool} */
  async listTools(): Promise<ProtocolTool[]> {
    return this.#request(async ({ client, schemas }, timeout) => {
      // The SDK would write a line to standard output when asked anyway.
      if (!client.getServerCapabilities()?.tools) return [];
      const { tools } = await client.listTools(undefined, { timeout });
      return tools.map((tool) => ({ ...tool, ...schemas.get(tool.name) }));
    });
  }

  /**
   * @throws `MCP_CLIENT_CONNECT_FAILED` when the server cannot be reached, `MCP_REQUEST_TIMEOUT`, `MCP_CONNECTION_CLOSED` when it
   *   went away before it answered (the call may have had effects), `MCP_REQUEST_FAILED` for errors of the protocol; the
   *   signal's reason when it fires
   */
  async callTool(
    name: string,
    args: Record<string, unknown>,
    { signal }: RemoteCallOptions = {},
  ): Promise<CallToolResult> {
    return this.#request(
      ({ client }, timeout) => client.callTool({ name, arguments: args }, { timeout, ...(signal && { signal }) }),
      signal,
    );
  }

  /** Ends the session and the connection. The next request connects again. */
  async disconnect(): Promise<void> {
    const connecting = this.#connecting;
    this.#connecting = undefined;
    this.#current = undefined;
    const connected = await connecting?.catch(() => undefined);
    if (connected) await this.#close(connected);
  }

  async #close({ client, transport }: Connected): Promise<void> {
    try {
      if (hasSession(transport)) await transport.terminateSession();
      await client.close();
    } catch (error) {
      this.#options.log('debug', `Disconnecting was not clean: ${toErrorMessage(error)}`, error);
    }
  }

  async #request<Result>(
    run: (connected: Connected, timeout: number) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      const connected = await this.#connect();
      connected.active += 1;
      try {
        return await run(connected, this.#options.timeout);
      } catch (error) {
        signal?.throwIfAborted();
        if (attempt === 1 && hasSession(connected.transport) && isForgottenSession(error)) {
          this.#forget(connected);
          continue;
        }
        throw await this.#explain(error, connected);
      } finally {
        connected.active -= 1;
        this.#closeForgotten(connected);
      }
    }
  }

  #connect(): Promise<Connected> {
    if (this.#connecting) return this.#connecting;
    const connecting = this.#open();
    this.#connecting = connecting;
    // A failed attempt is not remembered: the next request tries again.
    connecting.catch(() => {
      if (this.#connecting === connecting) this.#connecting = undefined;
    });
    return connecting;
  }

  async #open(): Promise<Connected> {
    const { name, target, timeout, log } = this.#options;
    const { Client } = await import('../protocol/sdk-client.js');
    const transport = await createTransport(target);
    const client = new Client(
      { name: 'quiver', version: '1.0.0' },
      {
        capabilities: {},
        versionNegotiation: { mode: negotiationMode(target) },
        jsonSchemaValidator: acceptEverything,
      },
    );
    if (target.definition.enableServerLogs !== false) {
      client.setNotificationHandler('notifications/message', ({ params }) => {
        log(params.level, typeof params.data === 'string' ? params.data : JSON.stringify(params.data), params);
      });
    }
    Object.assign(client, { onerror: (error: Error) => log('debug', error.message, error) });
    const limit = target.definition.connectTimeout ?? (target.kind === 'http' ? defaultConnectTimeout : timeout);
    try {
      await withinTime(client.connect(transport, { timeout: limit }), limit);
    } catch (error) {
      if (transport instanceof StdioTransport) transport.kill();
      await client.close().catch(() => {});
      throw new QuiverError(
        'MCP_CLIENT_CONNECT_FAILED',
        `Could not connect to MCP server '${name}' (${describeTarget(target)}): ${reasonOf(error, transport)}`,
        {
          cause: error,
          details: { server: name, ...stderrOf(transport) },
        },
      );
    }
    if (target.kind === 'http') rememberEra(target.url, client.getProtocolEra());
    const connected: Connected = { client, transport, schemas: new Map(), active: 0 };
    keepSchemas(connected);
    Object.assign(client, { onclose: () => this.#forget(connected) });
    this.#current = connected;
    return connected;
  }

  /** The next request connects again; requests that still wait on the lost connection are not disturbed. */
  #forget(lost: Connected): void {
    if (this.#current !== lost) return;
    this.#current = undefined;
    this.#connecting = undefined;
  }

  #closeForgotten(connected: Connected): void {
    if (connected === this.#current || connected.active > 0) return;
    connected.client.close().catch((error: unknown) => this.#options.log('debug', toErrorMessage(error), error));
  }

  async #explain(error: unknown, { transport }: Connected): Promise<QuiverError> {
    if (isQuiverError(error)) return error;
    const { SdkError, SdkErrorCode } = await import('../protocol/sdk-client.js');
    const { name, timeout } = this.#options;
    const details = { server: name, ...stderrOf(transport) };
    if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
      return new QuiverError(
        'MCP_REQUEST_TIMEOUT',
        `MCP server '${name}' did not answer within ${timeout} ms. Raise \`timeout\` if it needs longer.`,
        {
          cause: error,
          details,
        },
      );
    }
    if (
      error instanceof SdkError &&
      (error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.NotConnected)
    ) {
      return new QuiverError(
        'MCP_CONNECTION_CLOSED',
        `MCP server '${name}' went away before it answered: ${reasonOf(error, transport)} The call was not repeated, since it may have had effects.`,
        { cause: error, details },
      );
    }
    return new QuiverError('MCP_REQUEST_FAILED', `MCP server '${name}' refused the request: ${toErrorMessage(error)}`, {
      cause: error,
      details,
    });
  }
}

async function createTransport(target: ServerTarget): Promise<Transport> {
  if (target.kind === 'stdio') return new StdioTransport(target.definition);
  const { StreamableHTTPClientTransport } = await import('../protocol/sdk-client.js');
  const { requestInit, fetch = await defaultFetch() } = target.definition;
  return new StreamableHTTPClientTransport(target.url, { fetch, ...(requestInit && { requestInit }) });
}

/** Outside Node (and Bun and Deno, which pass for it) there is only the platform's own. */
async function defaultFetch(): Promise<NonNullable<HttpServerDefinition['fetch']>> {
  if (typeof process === 'undefined' || process.versions?.node === undefined)
    return (url, init) => globalThis.fetch(url, init);
  return (await import('./transports/node-fetch.js')).nodeFetch;
}

function negotiationMode(target: ServerTarget): 'auto' | 'legacy' | { pin: string } {
  const wanted = target.definition.protocol ?? (target.kind === 'http' ? 'auto' : 'legacy');
  if (wanted === 'modern') return { pin: '2026-07-28' };
  if (wanted === 'auto' && target.kind === 'http' && isEraKnown(target.url, 'legacy')) return 'legacy';
  return wanted;
}

/** Results are checked on the one path of all tools, in core; compiling every schema a second time costs more than the calls. */
const acceptEverything: JsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

/** Sees every message before the SDK does. */
function keepSchemas({ transport, schemas }: Connected): void {
  const deliver = transport.onmessage;
  const onmessage: NonNullable<Transport['onmessage']> = (message, extra) => {
    if ('result' in message && Array.isArray(message.result['tools']))
      rememberSchemas(schemas, message.result['tools']);
    deliver?.(message, extra);
  };
  Object.assign(transport, { onmessage });
}

function rememberSchemas(schemas: Connected['schemas'], tools: readonly unknown[]): void {
  for (const tool of tools) {
    if (!isObject(tool) || typeof tool['name'] !== 'string') continue;
    const { inputSchema, outputSchema } = tool as unknown as ProtocolTool;
    schemas.set(tool['name'], { inputSchema, ...(outputSchema && { outputSchema }) });
  }
}

interface SessionTransport extends Transport {
  terminateSession(): Promise<void>;
}

function hasSession(transport: Transport): transport is SessionTransport {
  return transport.sessionId !== undefined && 'terminateSession' in transport;
}

/** HTTP 404 to a request with a session id: the server restarted, and did not look at the request. */
function isForgottenSession(error: unknown): boolean {
  return error instanceof Error && 'status' in error && error.status === 404;
}

function withinTime<Result>(running: Promise<Result>, milliseconds: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`no answer within ${milliseconds} ms; raise \`connectTimeout\` if it needs longer`)),
      milliseconds,
    );
    running.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function describeTarget(target: ServerTarget): string {
  return target.kind === 'http' ? `${target.url.origin}${target.url.pathname}` : target.definition.command;
}

function reasonOf(error: unknown, transport: Transport): string {
  if (!(transport instanceof StdioTransport) || transport.ending === undefined) return withCauses(error);
  const tail = transport.stderrTail.trim().slice(-500);
  return `its process ${transport.ending}.${tail === '' ? '' : ` It wrote: ${tail}`}`;
}

/** `fetch failed (connect ECONNREFUSED 127.0.0.1:1)`: what the outermost error says and what is behind it. */
function withCauses(error: unknown): string {
  const messages: string[] = [];
  for (let at = error; at !== undefined && messages.length < 5; at = at instanceof Error ? at.cause : undefined) {
    const message = toErrorMessage(at);
    if (!messages.some((known) => known.includes(message))) messages.push(message);
  }
  const [first = 'unknown error', ...behind] = messages;
  return behind.length === 0 ? first : `${first} (${behind.join('; ')})`;
}

function stderrOf(transport: Transport): { stderr?: string } {
  return transport instanceof StdioTransport && transport.stderrTail !== '' ? { stderr: transport.stderrTail } : {};
}
