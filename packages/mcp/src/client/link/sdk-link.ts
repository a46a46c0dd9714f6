import type { ProtocolClient, Transport } from '../../protocol/client-types.js';
import { createEnvelope, DirectChannel } from './direct/direct-channel.js';
import { Handovers } from './direct/handovers.js';
import { createStdioSender } from './direct/stdio-sender.js';
import type { SdkClientOptions } from './sdk-client.js';
import { factsOf, type ServerFacts } from './server-facts.js';
import type { ServerLink } from './server-link.js';
import { RawSchemas, watchTransport } from './transport-watch.js';
import { StdioTransport } from './transports/stdio-transport.js';

/** A link that the SDK opened and keeps. Requests to a child process may still go past it. */
export class SdkLink implements ServerLink {
  readonly kind: ServerLink['kind'];
  readonly server: ServerFacts;
  readonly direct: DirectChannel | undefined;
  readonly handovers: Handovers = new Handovers();
  readonly schemas: RawSchemas = new RawSchemas();
  readonly #client: ProtocolClient;
  readonly #transport: Transport;

  /** @param client - connected over the transport */
  constructor(
    kind: ServerLink['kind'],
    client: ProtocolClient,
    transport: Transport,
    { capabilities, onClosed }: Pick<SdkClientOptions, 'capabilities' | 'onClosed'>,
  ) {
    this.kind = kind;
    this.#client = client;
    this.#transport = transport;
    this.server = factsOf(client);
    if (transport instanceof StdioTransport)
      this.direct = new DirectChannel(createStdioSender(transport), createEnvelope(this.server, capabilities));
    Object.assign(client, {
      onclose: () => {
        this.direct?.close();
        onClosed();
      },
    });
    watchTransport(transport, this);
  }

  get sessionId(): string | undefined {
    return this.#transport.sessionId;
  }

  get process(): StdioTransport | undefined {
    return this.#transport instanceof StdioTransport ? this.#transport : undefined;
  }

  get isClosed(): boolean {
    return this.#client.transport === undefined;
  }

  client(): Promise<ProtocolClient> {
    return Promise.resolve(this.#client);
  }

  async endSession(): Promise<void> {
    if ('terminateSession' in this.#transport && this.sessionId !== undefined)
      await (this.#transport as { terminateSession(): Promise<void> }).terminateSession();
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}
