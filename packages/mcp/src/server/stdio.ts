// No import of a Node module: a Worker is one file, in which every static import runs at startup.
import type { Readable, Writable } from 'node:stream';
import { createLineReader } from '../line-reader.js';
import { parseError, parseJsonText } from '../protocol/json-rpc.js';
import { Connection } from './connection.js';
import { MAX_STDIO_MESSAGE_BYTES } from './limits.js';
import type { ServerDefinition } from './request.js';

export interface StdioOptions {
  readonly server: ServerDefinition;
  readonly input: Readable;
  /** Writes one message as a line. */
  readonly write: (line: string) => void;
  /** Called once, when the client closes its end or {@link StdioConnection.close} is called. */
  readonly onClose: () => void;
}

/** Events after which a stream delivers no more data. */
const endEvents = ['end', 'error', 'close'] as const;

/** Connection to one client over a pipe. */
export class StdioConnection {
  readonly #connection: Connection;
  readonly #input: Readable;
  readonly #stop: () => void;
  #isOpen = true;

  constructor({ server, input, write, onClose }: StdioOptions) {
    const connection = new Connection({ server, write });
    const onData = createLineReader({
      maxBytes: MAX_STDIO_MESSAGE_BYTES,
      onLine: (line) => {
        try {
          void connection.receive(parseJsonText(line));
        } catch (error) {
          connection.refuse(null, error);
        }
      },
      onTooLong: () =>
        connection.refuse(null, parseError(`Parse error: a message is longer than ${MAX_STDIO_MESSAGE_BYTES} bytes`)),
    });
    this.#connection = connection;
    this.#input = input.on('data', onData);
    const onEnd = (): void => this.close();
    for (const event of endEvents) input.once(event, onEnd);
    this.#stop = () => {
      for (const event of endEvents) input.off(event, onEnd);
      input.off('data', onData).pause();
      onClose();
    };
  }

  /** Stops reading, waits for in-flight requests, then closes. */
  async shutDown(graceMilliseconds: number): Promise<void> {
    this.#input.pause();
    await this.#connection.drained(graceMilliseconds);
    this.close();
  }

  /** Stops reading and cancels all in-flight requests. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#connection.close();
    this.#stop();
  }
}

/**
 * Serves one client over the standard streams of this process.
 *
 * Until the connection closes, other writes to standard output (such as `console.log` in a tool) go to standard error: one stray line
 * breaks the protocol. A client that disconnects without notice (EPIPE) is not an error.
 */
export function serveProcessStdio(server: ServerDefinition, onClose: () => void): StdioConnection {
  const { process } = globalThis;
  const { stdin, stdout, stderr } = process;
  const ownWrite = Object.getOwnPropertyDescriptor(stdout, 'write');
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr) as Writable['write'] & typeof stdout.write;
  const connection = new StdioConnection({
    server,
    input: stdin,
    write: (line) => {
      if (stdout.destroyed) return;
      // The lines of one turn of the event loop are written at once.
      stdout.cork();
      write(`${line}\n`);
      process.nextTick(() => stdout.uncork());
    },
    onClose: () => {
      if (ownWrite) Object.defineProperty(stdout, 'write', ownWrite);
      else delete (stdout as Partial<typeof stdout>).write;
      onClose();
    },
  });
  stdout.on('error', () => connection.close());
  return connection;
}
