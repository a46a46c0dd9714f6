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
import { TransportChannel } from './transport-channel.js';

const inProcessUrl = new URL('http://localhost/mcp');

/** Returns a channel to a server of this process, or over the application's transport. It opens no port. */
export function createInProcessChannel(server: InProcessServer | MessageTransport): Channel {
  if (!isInProcessServer(server)) return new TransportChannel(server);
  if (!('fetch' in server)) return new InProcessChannel(server as ConnectableServer);
  const send = fromFetch((url, init) => {
    const headers = new Headers(init?.headers);
    // Servers check which host a request is for.
    headers.set('host', inProcessUrl.host);
    return (server as unknown as FetchableServer).fetch(new Request(url, { ...init, headers }));
  });
  return new HttpChannel({ kind: 'in-process', url: inProcessUrl, send });
}

/** The part of a transport of the official SDKs, version 1 and 2, that their servers use. */
interface ServerTransport {
  onmessage?: (message: unknown, extra?: object) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  start(): Promise<void>;
  send(message: unknown): Promise<void>;
  close(): Promise<void>;
}

/** Connects a server of the official SDKs in this process. Messages are handed over as objects. */
class InProcessChannel implements Channel {
  readonly kind = 'in-process' as const;
  readonly #server: ConnectableServer;
  #transport: ServerTransport | undefined;
  #receiver: Receiver | undefined;

  constructor(server: ConnectableServer) {
    this.#server = server;
  }

  async start(receiver: Receiver): Promise<void> {
    this.#receiver = receiver;
    const transport: ServerTransport = {
      start: async () => {},
      // A server that calls its own client would otherwise be called while it still runs.
      send: async (message) => queueMicrotask(() => this.#receiver?.onMessage(message)),
      close: async () => this.#end(),
    };
    this.#transport = transport;
    await this.#server.connect(transport);
  }

  async send(message: OutgoingMessage): Promise<void> {
    if (!this.#transport) throw new TypeError('Not connected');
    this.#transport.onmessage?.(message);
  }

  async close(): Promise<void> {
    this.#end();
  }

  #end(): void {
    const transport = this.#transport;
    if (!transport) return;
    this.#transport = undefined;
    transport.onclose?.();
    this.#receiver?.onClosed();
  }
}
