import type { Readable } from 'node:stream';
import { createLineReader } from '../../line-reader.js';
import { errorCodes } from '../../protocol/constants.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { ServerDefinition } from '../server-definition.js';
import { PeerConnection } from './peer-connection.js';
import { parseJsonText } from './read-json-body.js';

/** The longest message that is read: 10 MiB. */
const maxMessageBytes = 10 * 1024 * 1024;

export interface StdioOptions {
  readonly server: ServerDefinition;
  readonly input: Readable;
  /** Writes one line of protocol. */
  readonly write: (line: string) => void;
  /** Called once, when the client closed its end or {@link StdioConnection.close} was called. */
  readonly onClose: () => void;
}

/** One client at the other end of a pipe. */
export class StdioConnection {
  readonly #peer: PeerConnection;
  readonly #input: Readable;
  readonly #onData: (chunk: Buffer) => void;
  readonly #onEnd = (): void => this.close();
  readonly #onClose: () => void;
  #open = true;

  constructor({ server, input, write, onClose }: StdioOptions) {
    this.#peer = new PeerConnection({ server, write });
    this.#input = input;
    this.#onClose = onClose;
    this.#onData = createLineReader({
      maxBytes: maxMessageBytes,
      onLine: (line) => this.#receive(line),
      onTooLong: () =>
        this.#peer.refuse(
          null,
          new ProtocolError(errorCodes.parse, `Parse error: a message is longer than ${maxMessageBytes} bytes`),
        ),
    });
    input.on('data', this.#onData);
    input.once('end', this.#onEnd);
    input.once('close', this.#onEnd);
    input.once('error', this.#onEnd);
  }

  /** Stops reading, lets running calls finish for a while, then closes. */
  async shutDown(graceMilliseconds: number): Promise<void> {
    this.#input.pause();
    await this.#peer.drained(graceMilliseconds);
    this.close();
  }

  /** Stops reading and cancels what is being answered. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#input.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onEnd).off('error', this.#onEnd);
    this.#input.pause();
    this.#peer.close();
    this.#onClose();
  }

  #receive(line: string): void {
    let body: unknown;
    try {
      body = parseJsonText(line);
    } catch (error) {
      return this.#peer.refuse(null, error);
    }
    void this.#peer.receive(body);
  }
}
