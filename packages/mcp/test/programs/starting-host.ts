// A program that exits in the turn of the event loop in which it starts a server that never ends. The argument marks the server.
import { StdioChannel } from '../../src/client/transports/stdio-channel.js';

const channel = new StdioChannel({
  command: process.execPath,
  args: ['-e', 'setInterval(() => {}, 1000)', process.argv[2] as string],
});
void channel.start({ onMessage() {}, onError() {}, onSessionLost() {}, onClosed() {} });
process.exit();
