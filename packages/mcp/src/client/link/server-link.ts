import type { ProtocolClient } from '../../protocol/client-types.js';
import type { DirectChannel } from './direct/direct-channel.js';
import type { Handovers } from './direct/handovers.js';
import type { ServerFacts } from './server-facts.js';
import type { RawSchemas } from './transport-watch.js';
import type { StdioTransport } from './transports/stdio-transport.js';

/** A way to a server that is up. */
export interface ServerLink {
  readonly kind: 'stdio' | 'http' | 'sse' | 'in-process';
  readonly server: ServerFacts;
  readonly sessionId: string | undefined;
  /** The server, if it is a child. */
  readonly process: StdioTransport | undefined;
  readonly isClosed: boolean;
  /** The way past the SDK. */
  readonly direct: DirectChannel | undefined;
  /** Where the SDK meets answers to requests that went past it. */
  readonly handovers: Handovers;
  /** What the SDK was told of tools, as the server wrote it. */
  readonly schemas: RawSchemas | undefined;
  /** The SDK's client of this link; where requests go past the SDK, it is made when first asked for. */
  client(): Promise<ProtocolClient>;
  /** Tells the server that its session is not needed any more. */
  endSession(): Promise<void>;
  close(): Promise<void>;
}

/** Who hears what becomes of a link. */
export interface LinkEvents {
  readonly onError: (error: Error) => void;
  readonly onClosed: () => void;
}
