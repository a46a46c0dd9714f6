import type { Channel, OutgoingMessage, Receiver } from './channel.js';

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

/** Sends messages over a transport that the application made. Most transports connect once only. */
export class TransportChannel implements Channel {
  readonly kind = 'custom' as const;
  readonly #transport: MessageTransport;

  constructor(transport: MessageTransport) {
    this.#transport = transport;
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
