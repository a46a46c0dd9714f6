import { fromFetch } from '../../http/send.js';
import {
  isInProcessServer,
  type ConnectableServer,
  type FetchableServer,
  type InProcessServer,
  type MessageTransport,
} from '../config/in-process-server.js';
import type { Channel, OutgoingMessage, Receiver } from './channel.js';
import { HttpChannel } from './http-channel.js';

const inProcessUrl = new URL('http://localhost/mcp');

/** Returns a channel to a server of this process, or over the application's transport. It opens no port. */
export function createInProcessChannel(server: InProcessServer | MessageTransport): Channel {
  if (!isInProcessServer(server)) return new TransportChannel(server, 'custom');
  if (!('fetch' in server))
    return new TransportChannel(createLinkedTransport(server as ConnectableServer), 'in-process');
  const send = fromFetch((url, init) => {
    const headers = new Headers(init?.headers);
    // Servers check which host a request is for.
    headers.set('host', inProcessUrl.host);
    return (server as unknown as FetchableServer).fetch(new Request(url, { ...init, headers }));
  });
  return new HttpChannel({ kind: 'in-process', url: inProcessUrl, send });
}

/** Returns the client's end of a connection to a server of the official SDKs. Messages are handed over as objects. */
function createLinkedTransport(server: ConnectableServer): MessageTransport {
  type End = { onmessage?: (message: unknown) => void; onclose?: () => void };
  let isOpen = false;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    serverEnd.onclose?.();
    (clientEnd as End).onclose?.();
  };
  const serverEnd: MessageTransport & End = {
    start: async () => {},
    // A server that calls its own client would otherwise be called while it still runs.
    send: async (message) => queueMicrotask(() => (clientEnd as End).onmessage?.(message)),
    close,
  };
  const clientEnd: MessageTransport = {
    start: async () => {
      isOpen = true;
      await server.connect(serverEnd);
    },
    send: async (message) => {
      if (!isOpen) throw new TypeError('Not connected');
      serverEnd.onmessage?.(message);
    },
    close,
  };
  return clientEnd;
}

/** Sends messages over a transport. Most transports connect once only. */
class TransportChannel implements Channel {
  readonly kind: 'custom' | 'in-process';
  readonly #transport: MessageTransport;

  constructor(transport: MessageTransport, kind: 'custom' | 'in-process') {
    this.#transport = transport;
    this.kind = kind;
  }

  get sessionId(): string | undefined {
    return this.#transport.sessionId;
  }

  async start(receiver: Receiver): Promise<void> {
    Object.assign(this.#transport, {
      onmessage: (message: unknown) => receiver.onMessage(message),
      onerror: (error: unknown) => receiver.onError(error),
      onclose: () => receiver.onClosed(),
    });
    await this.#transport.start();
  }

  // Awaits other values than promises too: transports in JavaScript return what the stream behind them returns.
  async send(message: OutgoingMessage): Promise<void> {
    await this.#transport.send(message);
  }

  negotiated(protocolVersion: string): void {
    this.#transport.setProtocolVersion?.(protocolVersion);
  }

  async endSession(): Promise<void> {
    if (this.sessionId !== undefined) await this.#transport.terminateSession?.();
  }

  close(): Promise<void> {
    return this.#transport.close();
  }
}
