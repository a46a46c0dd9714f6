import { QuiverError } from '@quiver/core';
import type { StreamableHTTPClientTransport, Transport } from '../../protocol/client-types.js';
import { MODERN_VERSION } from '../../protocol/constants.js';
import type { JsonRpcNotification } from '../../protocol/json-rpc.js';
import type { HttpServerDefinition, ServerTarget } from '../definition/server-definition.js';
import { findPlainRoute } from './direct/plain-route.js';
import { isEraKnown, rememberEra } from './era-memory.js';
import { reasonOf, statusOf, stderrOf } from './request-error.js';
import { createSdkClient, type NegotiationMode, type SdkClientOptions } from './sdk-client.js';
import { SdkLink } from './sdk-link.js';
import type { ServerLink } from './server-link.js';
import { signInRequired } from './sign-in-required.js';
import { linkInProcess } from './transports/in-process.js';
import { createServerAccess } from './transports/server-fetch.js';
import type { Fetch } from '../../fetch.js';
import { StdioTransport } from './transports/stdio-transport.js';

export interface OpenLinkOptions extends SdkClientOptions {
  readonly name: string;
  readonly target: ServerTarget;
  /** Milliseconds until the link must be up. */
  readonly limit: number;
  /** Whether a session of the definition is taken up. */
  readonly resume: boolean;
  /** Hears of what the server tells by itself, where that does not go through a client. */
  readonly onNotification: (notification: JsonRpcNotification) => void;
}

/**
 * @param signal - gives the attempt up
 * @throws `MCP_CLIENT_CONNECT_FAILED` with the reason: the end of a process and its last words, or the network's;
 *   `OAUTH_AUTHORIZATION_REQUIRED` when the user has to sign in
 */
export async function openLink(options: OpenLinkOptions, signal: AbortSignal): Promise<ServerLink> {
  const { name, target, limit } = options;
  const attempts: Attempt[] = [];
  try {
    const link = await withinTime(open(options, signal, attempts), limit, signal);
    if (target.kind === 'http' && link.kind === 'http') rememberEra(target.url, link.server.era);
    return link;
  } catch (error) {
    const child = attempts.find(({ process }) => process)?.process;
    for (const attempt of attempts) {
      attempt.process?.kill();
      attempt.close().catch(() => {});
    }
    const awaited = signInRequired(error);
    if (awaited) throw awaited;
    const status = statusOf(error);
    throw new QuiverError(
      'MCP_CLIENT_CONNECT_FAILED',
      `Could not connect to MCP server '${name}' (${describeTarget(target)}): ${reasonOf(error, child)}`,
      {
        cause: error,
        details: { server: name, ...stderrOf(child), ...(status !== undefined && { httpStatus: status }) },
      },
    );
  }
}

/** What is left to clean up when an attempt fails. */
type Attempt = Pick<ServerLink, 'process' | 'close'>;

async function open(options: OpenLinkOptions, signal: AbortSignal, attempts: Attempt[]): Promise<ServerLink> {
  const { target, limit } = options;
  const openSdkLink = async (
    kind: ServerLink['kind'],
    transport: Transport,
    mode: NegotiationMode,
  ): Promise<ServerLink> => {
    const client = await createSdkClient(options, mode);
    attempts.push({ process: undefined, close: () => client.close() });
    await client.connect(transport, { timeout: limit, signal });
    return new SdkLink(kind, client, transport, options);
  };
  const openHttpLink = async (definition: HttpServerDefinition, url: URL): Promise<ServerLink> => {
    const mode = negotiationMode(target);
    const isResumed = options.resume && definition.sessionId !== undefined;
    const route = findPlainRoute(definition, url);
    if (!route) return openSdkLink('http', await createHttpTransport(definition, url, isResumed), mode);
    const { DirectLink } = await import('./direct/direct-link.js');
    const link = new DirectLink({
      ...options,
      route,
      mode,
      createTransport: createHttpTransport.bind(undefined, definition, url, isResumed),
    });
    attempts.push(link);
    await link.connect(!isResumed, signal);
    return link;
  };

  if (target.kind === 'stdio') {
    const transport = new StdioTransport(target.definition);
    attempts.push({ process: transport, close: () => transport.close() });
    // While the SDK is loaded, the server can start. When it cannot, `start` says it again.
    transport.spawn().catch(() => {});
    return openSdkLink('stdio', transport, negotiationMode(target));
  }
  if (target.kind === 'in-process')
    return openSdkLink('in-process', await linkInProcess(target.definition.server), negotiationMode(target));

  const { definition, url } = target;
  const wanted = definition.transport ?? (url.pathname.endsWith('/sse') ? 'sse' : 'auto');
  if (wanted !== 'sse') {
    try {
      return await openHttpLink(definition, url);
    } catch (error) {
      if (wanted === 'http' || definition.protocol === 'modern' || !meansOlderTransport(error)) throw error;
    }
  }
  return openSdkLink('sse', await createSseTransport(definition, url), 'legacy');
}

function negotiationMode(target: ServerTarget): NegotiationMode {
  const wanted = target.definition.protocol ?? (target.kind === 'http' ? 'auto' : 'legacy');
  if (wanted === 'modern') return { pin: MODERN_VERSION };
  if (target.kind === 'http' && wanted === 'auto' && isEraKnown(target.url, 'legacy')) return 'legacy';
  return wanted;
}

async function createHttpTransport(
  definition: HttpServerDefinition,
  url: URL,
  isResumed: boolean,
  wrap = (fetch: Fetch): Fetch => fetch,
): Promise<StreamableHTTPClientTransport> {
  const { StreamableHTTPClientTransport } = await import('../../protocol/sdk-client.js');
  const { requestInit, reconnectionOptions = patient, sessionId } = definition;
  const { fetch, ...access } = await createServerAccess(definition, url);
  return new StreamableHTTPClientTransport(url, {
    ...access,
    fetch: wrap(fetch),
    reconnectionOptions,
    ...(requestInit && { requestInit }),
    ...(isResumed && sessionId !== undefined && { sessionId }),
  });
}

async function createSseTransport(definition: HttpServerDefinition, url: URL): Promise<Transport> {
  const { SSEClientTransport } = await import('../../protocol/sdk-client.js');
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
