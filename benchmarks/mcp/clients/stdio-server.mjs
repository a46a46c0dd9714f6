import { fileURLToPath } from 'node:url';

/** Command line that starts the server in `server.mjs` over stdio. */
export const stdioServer = {
  command: process.execPath,
  args: [fileURLToPath(new URL('server.mjs', import.meta.url)), 'stdio'],
};
