// No import of a Node module: a Worker is one file, in which every static import runs at startup.
import type { Readable, Writable } from 'node:stream';
import { toErrorMessage, withinTime, type Logger } from '@quiver/core';
import { anyValue, unchecked, booleanValue, type OptionChecks } from '@quiver/core/internal';
import type { McpAuthInfo } from '@quiver/core/tools';
import { endChildren } from '../../child-processes.js';
import { createLineReader } from '../../line-reader.js';
import { parseError, parseJsonText } from '../../protocol/json-rpc.js';
import { Caller } from '../caller.js';
import { Connection } from './connection.js';
import {
  DEFAULT_GRACE,
  EXIT_TIMEOUT,
  FLUSH_TIMEOUT,
  MAX_STDIO_MESSAGE_BYTES,
  PARENT_CHECK_INTERVAL,
} from '../limits.js';
import type { Transport } from '../lifecycle.js';
import type { ServerState } from '../definition/server-state.js';

/** Options of `server.startStdio()`. */
export interface StdioOptions {
  /** Identity of the user of this process, for tools and for `mcp.scopes`. Default: none, and no scopes. */
  authInfo?: unknown;
  /**
   * Whether the process exits with code 0 after the client disconnects or the host ends, also with open timers, pools and watchers. Before, the
   * server closes, and child processes of `MCPClient`s end. Default `true`; `false` with `input` or `output`.
   */
  exitOnDisconnect?: boolean;
  /** Stream to read from. Default: standard input. */
  input?: Readable;
  /** Stream to write to. Default: standard output, which then carries only the protocol. */
  output?: Writable;
}

export const stdioChecks: OptionChecks<StdioOptions> = {
  authInfo: anyValue,
  exitOnDisconnect: booleanValue,
  ...unchecked<StdioOptions>()('input', 'output'),
};

/** Standard input and output of the process, as served by `startStdio()`. */
export interface StdioServerTransport {
  /** Stops reading and cancels all in-flight requests. */
  close(): Promise<void>;
}

export interface ServeStdioOptions {
  readonly server: ServerState;
  readonly authInfo?: McpAuthInfo | undefined;
  /** Default: standard input. */
  readonly input?: Readable | undefined;
  /** Default: standard output, which then carries only the protocol. */
  readonly output?: Writable | undefined;
  /** Called once, when the client disconnects or {@link StdioConnection.close} is called. */
  readonly onClose: () => void;
  /** Called once, after `onClose`, when the client disconnects. */
  readonly onDisconnect?: (() => void) | undefined;
}

export interface StdioConnection extends Transport {
  /** Stops reading and cancels all in-flight requests. */
  close(): void;
}

const endEvents = ['end', 'error', 'close'] as const;

/**
 * Serves one client over the standard streams of this process, or over streams of the caller.
 *
 * Until the connection over standard output closes, other writes to standard output (such as `console.log` in a tool) go to standard error: one stray line
 * breaks the protocol. A client that disconnects without notice (EPIPE), or ends while another process keeps the pipe open, is not an error.
 */
export function serveStdio(options: ServeStdioOptions): StdioConnection {
  const { process } = globalThis;
  const { server, authInfo, input = process.stdin, output = process.stdout, onClose, onDisconnect } = options;
  const connection = new Connection({ server, write: createLineWriter(output), transport: 'stdio' });
  const restore = options.output ? undefined : redirectStandardOutput();
  const { ppid: parent } = process;
  const caller = new Caller({ authInfo, transport: connection.transport });
  const onData = createLineReader({
    maxBytes: MAX_STDIO_MESSAGE_BYTES,
    onLine: (line) => {
      try {
        void connection.receive(parseJsonText(line), caller);
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
    for (const event of endEvents) input.off(event, disconnect);
    input.off('data', onData).pause();
    if (!isShuttingDown) for (const feature of server.features) feature.onDisconnect?.();
    clearInterval(parentCheck);
    restore?.();
    onClose();
  };
  const disconnect = (): void => {
    if (!isOpen) return;
    close();
    onDisconnect?.();
  };
  // An orphan gets another parent, except on Windows. Streams of the caller are closed by the caller.
  const parentCheck = setInterval(() => {
    if (!options.input && process.ppid !== parent) disconnect();
  }, PARENT_CHECK_INTERVAL);
  parentCheck.unref();
  input.on('data', onData);
  for (const event of endEvents) input.on(event, disconnect);
  // Also after the connection has closed: an output without a reader reports each write as an error, which would end the process.
  output.on('error', disconnect);
  if (!options.output) process.stderr.on('error', () => {});
  // A stream that ended before emits no event. Later: the caller has no connection yet.
  if (input.readableEnded || input.destroyed) queueMicrotask(disconnect);
  const shutDown = async (graceMilliseconds: number = DEFAULT_GRACE): Promise<void> => {
    // The server itself ends its features.
    isShuttingDown = true;
    // Reads on: calls in flight may wait for a response of the client.
    await connection.shutDown(graceMilliseconds);
    close();
  };
  return {
    close,
    shutDown,
    drain() {},
    get inFlight() {
      return connection.inFlightCount;
    },
  };
}

/** Returns a function that writes lines: those of one turn of the event loop at once, also after `write` of the output was replaced. */
function createLineWriter(output: Writable): (line: string) => void {
  const write = output.write.bind(output);
  let lines = '';
  const writeLines = (): void => {
    if (!output.destroyed) write(lines);
    lines = '';
  };
  return (line) => {
    if (lines === '') globalThis.process.nextTick(writeLines);
    lines += `${line}\n`;
  };
}

/** Sends what this process writes to standard output to standard error. Returns a function that ends it. */
function redirectStandardOutput(): () => void {
  const { stdout, stderr } = globalThis.process;
  const ownWrite = Object.getOwnPropertyDescriptor(stdout, 'write');
  stdout.write = stderr.write.bind(stderr) as Writable['write'] & typeof stdout.write;
  return () => {
    if (ownWrite) Object.defineProperty(stdout, 'write', ownWrite);
    else delete (stdout as Partial<typeof stdout>).write;
  };
}

/** Ends this process, also with open timers, pools and watchers: closes the server, ends child processes, and flushes standard output. */
export async function exitAfter(close: () => Promise<void>, logger: Logger): Promise<void> {
  const late = (limit: number): Error => new Error(`It did not end within ${limit} ms.`);
  try {
    await withinTime(close().then(endChildren), EXIT_TIMEOUT, late);
    // A host that does not read would block the exit.
    await withinTime(flush(globalThis.process.stdout), FLUSH_TIMEOUT, late);
  } catch (error) {
    logger.warn(`The server was not closed completely: ${toErrorMessage(error)}`, error);
  } finally {
    // oxlint-disable-next-line unicorn/no-process-exit -- the purpose of this function
    globalThis.process.exit();
  }
}

async function flush(output: Writable): Promise<void> {
  if (!output.destroyed) await new Promise<void>((resolve) => output.write('', () => resolve()));
}
