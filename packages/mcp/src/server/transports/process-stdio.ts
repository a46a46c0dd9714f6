import process from 'node:process';
import type { Writable } from 'node:stream';
import type { ServerDefinition } from '../server-definition.js';
import { StdioConnection } from './stdio.js';

/**
 * Serves one client over the standard streams of this process.
 *
 * While it does, everything else that is written to standard output (such as `console.log` in a tool) goes to standard error:
 * a single stray line breaks the protocol. A client that went away without a word (EPIPE) is no error.
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
