/** A server of this process that takes a transport, as the servers of the official SDKs do. */
export interface ConnectableServer {
  // oxlint-disable-next-line typescript/no-explicit-any -- the transports of both SDK versions differ in details of their types
  connect(transport: any): Promise<unknown>;
}

/** An `MCPServer`. Not by its `fetch`: definitions may have one, too, and the type checker could not tell the parameters of theirs. */
interface ListeningServer {
  listen(options?: object): Promise<unknown>;
}

export interface FetchableServer {
  fetch(request: Request): Promise<Response>;
}

/** An `MCPServer`, or a server of the official SDK. */
export type InProcessServer = ConnectableServer | ListeningServer;

/** Returns whether a value is a server, and not a definition of one. */
export function isInProcessServer(value: object): value is InProcessServer {
  const { connect, fetch } = value as Partial<ConnectableServer & FetchableServer>;
  // An `McpServer` of the SDK has a member `server`, and an HTTP definition may have a `fetch`.
  if (typeof connect === 'function') return true;
  return typeof fetch === 'function' && !('url' in value || 'command' in value || 'server' in value);
}

/** A transport of the official SDKs, version 1 or 2, or your own of the same shape. */
export interface MessageTransport {
  start(): Promise<void>;
  // oxlint-disable-next-line typescript/no-explicit-any -- a JSON-RPC message; the SDKs type it differently
  send(message: any): Promise<void>;
  close(): Promise<void>;
  onmessage?: unknown;
  onclose?: unknown;
  onerror?: unknown;
  readonly sessionId?: string | undefined;
  setProtocolVersion?(version: string): void;
  terminateSession?(): Promise<void>;
}

/** Returns whether a value is a transport, and not a definition or a server. */
export function isTransport(value: object): value is MessageTransport {
  const { start, send, close } = value as Partial<MessageTransport>;
  return typeof start === 'function' && typeof send === 'function' && typeof close === 'function';
}
