import type { Transport } from '../../../protocol/client-types.js';

/** A server of this process that takes a transport, as those of the official SDK do. */
interface ConnectableServer {
  // oxlint-disable-next-line typescript/no-explicit-any -- the transports of both SDK generations differ in details of their types
  connect(transport: any): Promise<unknown>;
}

/**
 * An `MCPServer`. It is described by `listen`, and not by the `fetch` that is called: a server and a definition may both have one,
 * and the type checker could not tell what to expect of a definition's.
 */
interface ListeningServer {
  listen(options?: object): Promise<unknown>;
}

interface FetchableServer {
  fetch(request: Request): Promise<Response>;
}

/** An `MCPServer`, or a server of the official SDK. */
export type InProcessServer = ConnectableServer | ListeningServer;

/** Tells a server from a definition of one. */
export function isInProcessServer(value: object): value is InProcessServer {
  const { connect, fetch } = value as Partial<ConnectableServer & FetchableServer>;
  // An `McpServer` of the SDK has a member `server`, and an HTTP definition may have a `fetch`.
  if (typeof connect === 'function') return true;
  return typeof fetch === 'function' && !('url' in value || 'command' in value || 'server' in value);
}

const inProcessUrl = new URL('http://localhost/mcp');

/** A transport to a server of this process. Nothing leaves the process, and no port is opened. */
export async function linkInProcess(server: InProcessServer): Promise<Transport> {
  const { InMemoryTransport, StreamableHTTPClientTransport } = await import('../../../protocol/sdk-client.js');
  if ('fetch' in server) {
    const fetch = (url: string | URL, init?: RequestInit): Promise<Response> =>
      (server as unknown as FetchableServer).fetch(new Request(url, { ...init, headers: withHost(init?.headers) }));
    return new StreamableHTTPClientTransport(inProcessUrl, { fetch });
  }
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  // One of the two, as `isInProcessServer` made sure.
  await (server as ConnectableServer).connect(serverSide);
  return clientSide;
}

/** Servers check where a request was meant to go. */
function withHost(headers: RequestInit['headers']): Headers {
  const complete = new Headers(headers);
  complete.set('host', inProcessUrl.host);
  return complete;
}
