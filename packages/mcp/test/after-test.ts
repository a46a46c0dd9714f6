import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** Calls functions one after another when the test is over; those of the last call first. */
export function afterTest(...ends: (() => unknown)[]): void {
  onTestFinished(async () => {
    for (const end of ends) await end();
  });
}

/** Serves requests on a free port until the test is over. */
export async function serveHttp(listener?: RequestListener): Promise<{ http: Server; origin: string; port: number }> {
  const http = createServer(listener);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  afterTest(() => {
    http.closeAllConnections();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  return { http, origin: `http://127.0.0.1:${port}`, port };
}

/** Returns a port on which no process listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
