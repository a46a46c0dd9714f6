import { fileURLToPath } from 'node:url';

/** Command line of the server in `server.mjs`, behind a pipe. */
export const stdioServer = {
  command: process.execPath,
  args: [fileURLToPath(new URL('server.mjs', import.meta.url)), 'stdio'],
};
