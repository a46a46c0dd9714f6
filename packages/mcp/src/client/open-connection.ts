import { QuiverError } from '@quiver/core';
import type { ClientCapabilities, JsonSchemaValidator, ProtocolClient, Transport } from '../protocol/client-types.js';
import { MODERN_VERSION } from '../protocol/constants.js';
import { clientInfo } from './client-info.js';
import { Handovers } from './direct/handovers.js';
import { isEraKnown, rememberEra } from './era-memory.js';
import { reasonOf, statusOf, stderrOf } from './request-error.js';
import type { HttpServerDefinition, ServerTarget } from './server-definition.js';
import type { ServerHandlers } from './server-handlers.js';
import { signInRequired } from './sign-in-required.js';
import { linkInProcess } from './transports/in-process.js';
import { createServerAccess } from './transports/server-fetch.js';
import { StdioTransport } from './transports/stdio-transport.js';

/** A connection that is up. */
export interface OpenConnection {
  readonly client: ProtocolClient;
  readonly transport: Transport;
  readonly kind: 'stdio' | 'http' | 'sse' | 'in-process';
  /** Where the SDK meets answers to requests that went past it. */
  readonly handovers: Handovers;
}

export interface OpenConnectionOptions {
  readonly name: string;
  readonly target: ServerTarget;
  /** Milliseconds until the connection must be up. */
  readonly limit: number;
  readonly capabilities: ClientCapabilities;
  /** Registers handlers on a client before it connects. */
  readonly prepare: (client: ProtocolClient) => void;
  /** Gives the attempt up. */
  readonly signal: AbortSignal;
  /** Whether a session of the definition is taken up. */
  readonly resume: boolean;
}

/** What is declared to a server: what there are handlers for, and what the definition says. */
export function capabilitiesOf(
  { elicitation, sampling, roots }: ServerHandlers,
  declared: ClientCapabilities = {},
): ClientCapabilities {
  return {
    ...(elicitation && { elicitation: { form: {} } }),
    ...(sampling && { sampling: {} }),
    ...(roots && { roots: { listChanged: true } }),
    ...declared,
  };
}

/**
 * @throws `MCP_CLIENT_CONNECT_FAILED` with the reason: the end of a process and its last words, or the network's;
 *   `OAUTH_AUTHORIZATION_REQUIRED` when the user has to sign in
 */
export async function openConnection(options: OpenConnectionOptions): Promise<OpenConnection> {
  const { name, target, limit, signal } = options;
  const opened: { client: ProtocolClient; transport: Transport }[] = [];
  try {
    const connection = await withinTime(connect(options, opened), limit, signal);
    if (target.kind === 'http' && connection.kind === 'http')
      rememberEra(target.url, connection.client.getProtocolEra());
    return connection;
  } catch (error) {
    const transport = opened.at(-1)?.transport;
    for (const attempt of opened) {
      if (attempt.transport instanceof StdioTransport) attempt.transport.kill();
      attempt.client.close().catch(() => {});
    }
    const awaited = signInRequired(error);
    if (awaited) throw awaited;
    const status = statusOf(error);
    throw new QuiverError(
      'MCP_CLIENT_CONNECT_FAILED',
      `Could not connect to MCP server '${name}' (${describeTarget(target)}): ${reasonOf(error, transport)}`,
      {
        cause: error,
        details: { server: name, ...stderrOf(transport), ...(status !== undefined && { httpStatus: status }) },
      },
    );
  }
}

async function connect(
  options: OpenConnectionOptions,
  opened: { client: ProtocolClient; transport: Transport }[],
): Promise<OpenConnection> {
  const { target } = options;
  const handovers = new Handovers();
  const open = async (
    transport: Transport,
    kind: OpenConnection['kind'],
    mode: ReturnType<typeof negotiationMode>,
  ): Promise<OpenConnection> => {
    const client = await createClient(options, mode);
    opened.push({ client, transport });
    await client.connect(transport, { timeout: options.limit, signal: options.signal });
    return { client, transport, kind, handovers };
  };

  if (target.kind === 'stdio') {
    return open(new StdioTransport(target.definition), 'stdio', negotiationMode(target));
  }
  if (target.kind === 'in-process') {
    return open(await linkInProcess(target.definition.server), 'in-process', negotiationMode(target));
  }

  const { definition, url } = target;
  const wanted = definition.transport ?? (url.pathname.endsWith('/sse') ? 'sse' : 'auto');
  if (wanted !== 'sse') {
    try {
      const transport = await createHttpTransport(definition, url, options.resume, handovers);
      return await open(transport, 'http', negotiationMode(target));
    } catch (error) {
      if (wanted === 'http' || definition.protocol === 'modern' || !meansOlderTransport(error)) throw error;
    }
  }
  return open(await createSseTransport(definition, url), 'sse', 'legacy');
}

async function createClient(
  { target, capabilities, prepare }: OpenConnectionOptions,
  mode: ReturnType<typeof negotiationMode>,
): Promise<ProtocolClient> {
  const { Client } = await import('../protocol/sdk-client.js');
  const { maxInputRounds } = target.definition;
  const client = new Client(clientInfo, {
    capabilities,
    versionNegotiation: { mode },
    jsonSchemaValidator: acceptEverything,
    ...(maxInputRounds !== undefined && { inputRequired: { maxRounds: maxInputRounds } }),
  });
  prepare(client);
  return client;
}

function negotiationMode(target: ServerTarget): 'auto' | 'legacy' | { pin: string } {
  const wanted = target.definition.protocol ?? (target.kind === 'http' ? 'auto' : 'legacy');
  if (wanted === 'modern') return { pin: MODERN_VERSION };
  if (target.kind === 'http' && wanted === 'auto' && isEraKnown(target.url, 'legacy')) return 'legacy';
  return wanted;
}

async function createHttpTransport(
  definition: HttpServerDefinition,
  url: URL,
  resume: boolean,
  handovers: Handovers,
): Promise<Transport> {
  const { StreamableHTTPClientTransport } = await import('../protocol/sdk-client.js');
  const { requestInit, reconnectionOptions = patient, sessionId } = definition;
  const { fetch, ...access } = await createServerAccess(definition, url);
  return new StreamableHTTPClientTransport(url, {
    ...access,
    fetch: handovers.wrapFetch(fetch),
    reconnectionOptions,
    ...(requestInit && { requestInit }),
    ...(resume && sessionId !== undefined && { sessionId }),
  });
}

async function createSseTransport(definition: HttpServerDefinition, url: URL): Promise<Transport> {
  const { SSEClientTransport } = await import('../protocol/sdk-client.js');
  const { requestInit, eventSourceInit } = definition;
  const transport = new SSEClientTransport(url, {
    ...(await createServerAccess(definition, url)),
    ...(requestInit && { requestInit }),
    // The two declarations of `fetch` differ in how they write the same thing.
    ...(eventSourceInit && { eventSourceInit: eventSourceInit as never }),
  });
  return transport;
}

/** Event streams are taken up again for about five minutes; the SDK gives up after two attempts. */
const patient = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 15,
};

/**
 * The status of the first POST with which servers that only know HTTP+SSE answer. An error in the protocol's own words comes from a
 * server that knows better.
 *
 * @see [MCP 2025-11-25, Transports – Backwards Compatibility](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#backwards-compatibility)
 */
function meansOlderTransport(error: unknown): boolean {
  const status = statusOf(error);
  if (status !== 400 && status !== 404 && status !== 405) return false;
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const { data } = at as { data?: { text?: unknown } };
    if (typeof data?.text === 'string' && isModernError(data.text)) return false;
  }
  return true;
}

function isModernError(text: string): boolean {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown } };
    return typeof error?.code === 'number' && error.code <= -32_020 && error.code >= -32_099;
  } catch {
    return false;
  }
}

/** Results are checked on the one path of all tools, in core; compiling every schema a second time costs more than the calls. */
const acceptEverything: JsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

function withinTime<Result>(running: Promise<Result>, milliseconds: number, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`no answer within ${milliseconds} ms; raise \`connectTimeout\` if it needs longer`)),
      milliseconds,
    );
    const onAbort = (): void => reject(new Error('the client was disconnected'));
    signal.addEventListener('abort', onAbort, { once: true });
    running.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    });
  });
}

function describeTarget(target: ServerTarget): string {
  if (target.kind === 'http') return `${target.url.origin}${target.url.pathname}`;
  return target.kind === 'stdio' ? target.definition.command : 'in this process';
}
