import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';

/** Starts a server. */
export async function startServer(listener: RequestListener): Promise<{ url: string; close: () => void }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Starts a server for the tests of a file, and ends it after them. @returns its URL */
export async function serve(listener: RequestListener): Promise<string> {
  const { url, close } = await startServer(listener);
  afterAll(close);
  return url;
}
