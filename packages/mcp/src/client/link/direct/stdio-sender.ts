import type { StdioTransport } from '../transports/stdio-transport.js';
import type { DirectSender } from './direct-channel.js';

/** Writes requests as lines. Answers come with all other messages. */
export function createStdioSender(transport: StdioTransport): DirectSender {
  return {
    isOpen: true,
    send: ({ body }, { onError }) => {
      try {
        transport.write(body);
      } catch (error) {
        onError(error);
      }
      return undefined;
    },
    notify: async (body) => transport.write(body),
  };
}
