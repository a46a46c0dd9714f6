import process from 'node:process';
import type { Readable, Writable } from 'node:stream';
import { createLineReader } from '../line-reader.js';
import { parseError, parseJsonText } from '../protocol/json-rpc.js';
import { Connection } from './connection.js';
import type { ServerDefinition } from './server-definition.js';
import { MAX_STDIO_MESSAGE_BYTES } from './limits.js';

export interface StdioOptions {
  readonly server: ServerDefinition;
  readonly input: Readable;
  /** Writes one message as a line. */
  readonly write: (line: string) => void;
  /** Called once, when the client closes its end or {@link StdioConnection.close} is called. */
  readonly onClose: () => void;
}

/** Connection to one client over a pipe. */
export class StdioConnection {
  readonly #connection: Connection;
  readonly #input: Readable;
  readonly #onData: (chunk: Buffer) => void;
  readonly #onEnd = (): void => this.close();
  readonly #onClose: () => void;
  #open = true;

  constructor({ server, input, write, onClose }: StdioOptions) {
    this.#connection = new Connection({ server, write });
    this.#input = input;
    this.#onClose = onClose;
    this.#onData = createLineReader({
      maxBytes: MAX_STDIO_MESSAGE_BYTES,
      onLine: (line) => this.#receive(line),
      onTooLong: () =>
        this.#connection.refuse(
          null,
          parseError(`Parse error: a message is longer than ${MAX_STDIO_MESSAGE_BYTES} bytes`),
        ),
    });
    input.on('data', this.#onData);
    input.once('end', this.#onEnd);
    input.once('close', this.#onEnd);
    input.once('error', this.#onEnd);
  }

  /** Stops reading, waits for in-flight requests, then closes. */
  async shutDown(graceMilliseconds: number): Promise<void> {
    this.#input.pause();
    await this.#connection.drained(graceMilliseconds);
    this.close();
  }

  /** Stops reading and cancels all in-flight requests. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#input.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onEnd).off('error', this.#onEnd);
    this.#input.pause();
    this.#connection.close();
    this.#onClose();
  }

  #receive(line: string): void {
    let body: unknown;
    try {
      body = parseJsonText(line);
    } catch (error) {
      return this.#connection.refuse(null, error);
    }
    void this.#connection.receive(body);
  }
}

/**
 * Serves one client over the standard streams of this process.
 *
 * Until the connection closes, other writes to standard output (such as `console.log` in a tool) go to standard error: one stray line
 * breaks the protocol. A client that disconnects without notice (EPIPE) is not an error.
 */
export function serveProcessStdio(server: ServerDefinition, onClose: () => void): StdioConnection {
  const { stdin, stdout, stderr } = process;
  const ownWrite = Object.getOwnPropertyDescriptor(stdout, 'write');
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr) as Writable['write'] & typeof stdout.write;
  const connection = new StdioConnection({
    server,
    input: stdin,
    write: createLineWriter(stdout, write),
    onClose: () => {
      if (ownWrite) Object.defineProperty(stdout, 'write', ownWrite);
      else delete (stdout as Partial<typeof stdout>).write;
      onClose();
    },
  });
  stdout.on('error', () => connection.close());
  return connection;
}

/** Collects the lines of one turn of the event loop and writes them at once. */
function createLineWriter(stdout: Writable, write: (text: string) => boolean): (line: string) => void {
  let lines = '';
  return (line) => {
    if (lines === '') {
      process.nextTick(() => {
        const text = lines;
        lines = '';
        if (!stdout.destroyed) write(text);
      });
    }
    lines += `${line}\n`;
  };
}
