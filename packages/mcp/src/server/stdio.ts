// No import of a Node module: a Worker is one file, in which every static import runs at startup.
import type { Readable, Writable } from 'node:stream';
import type { McpAuthInfo } from '@quiver/core/tools';
import { createLineReader } from '../line-reader.js';
import { parseError, parseJsonText } from '../protocol/json-rpc.js';
import { Connection } from './connection.js';
import { MAX_STDIO_MESSAGE_BYTES } from './limits.js';
import type { ServerDefinition } from './server-definition.js';

export interface StdioOptions {
  readonly server: ServerDefinition;
  /** Identity of the caller. */
  readonly authInfo?: McpAuthInfo | undefined;
  readonly input: Readable;
  /** Writes one message as a line. */
  readonly write: (line: string) => void;
  /** Called once, when the client closes its end or {@link StdioConnection.close} is called. */
  readonly onClose: () => void;
}

export interface StdioConnection {
  /** Stops reading and cancels all in-flight requests. */
  close(): void;
  /** Stops reading, waits for in-flight requests, then closes. */
  shutDown(graceMilliseconds: number): Promise<void>;
}

/** Events after which a stream delivers no more data. */
const endEvents = ['end', 'error', 'close'] as const;

/** Serves one client over a pipe. */
export function serveStdio({ server, authInfo, input, write, onClose }: StdioOptions): StdioConnection {
  const connection = new Connection({ server, write });
  const onData = createLineReader({
    maxBytes: MAX_STDIO_MESSAGE_BYTES,
    onLine: (line) => {
      try {
        void connection.receive(parseJsonText(line), { authInfo });
      } catch (error) {
        connection.refuse(null, error);
      }
    },
    onTooLong: () =>
      connection.refuse(null, parseError(`Parse error: a message is longer than ${MAX_STDIO_MESSAGE_BYTES} bytes`)),
  });
  let isOpen = true;
  let isShuttingDown = false;
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    connection.close();
    for (const event of endEvents) input.off(event, close);
    input.off('data', onData).pause();
    if (!isShuttingDown) server.tasks.endOfStdio();
    onClose();
  };
  input.on('data', onData);
  for (const event of endEvents) input.on(event, close);
  // A stream that ended before emits no event. Later: the caller has no connection yet.
  if (input.readableEnded || input.destroyed) queueMicrotask(close);
  const shutDown = async (graceMilliseconds: number): Promise<void> => {
    // The server itself waits for its tasks.
    isShuttingDown = true;
    input.pause();
    await connection.drained(graceMilliseconds);
    close();
  };
  return { close, shutDown };
}

/**
 * Serves one client over the standard streams of this process.
 *
 * Until the connection closes, other writes to standard output (such as `console.log` in a tool) go to standard error: one stray line
 * breaks the protocol. A client that disconnects without notice (EPIPE) is not an error.
 */
export function serveProcessStdio({
  server,
  authInfo,
  onClose,
}: Pick<StdioOptions, 'server' | 'authInfo' | 'onClose'>): StdioConnection {
  const { process } = globalThis;
  const { stdin, stdout, stderr } = process;
  const ownWrite = Object.getOwnPropertyDescriptor(stdout, 'write');
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr) as Writable['write'] & typeof stdout.write;
  const connection = serveStdio({
    server,
    authInfo,
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
  stdout.on('error', connection.close);
  return connection;
}
