// A program that believes to run on Windows. It starts a server with the given command line, and prints the arguments that arrive.
import process from 'node:process';

Object.defineProperty(process, 'platform', { value: 'win32' });
const { StdioChannel } = await import('../../src/client/transports/stdio-channel.js');
const [, , command, ...args] = process.argv as [string, string, string];
const channel = new StdioChannel({ command, args });
const started = new Promise<string[]>((resolve) => {
  void channel.start({
    onMessage: (message) => resolve((message as { params: { args: string[] } }).params.args),
    onError() {},
    onSessionLost() {},
    onClosed() {},
  });
});
process.stdout.write(JSON.stringify(await started));
channel.abort();
process.exit();
