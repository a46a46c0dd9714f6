import type { MessageTransport } from '../config/in-process-server.js';
import type { Channel, OutgoingMessage, Receiver } from './channel.js';

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
