import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A balancer without stickiness. */
export interface Balancer {
  readonly url: string;
  close(): void;
}

/**
 * Sends each request to the next instance. A request goes to another instance only when the first one does not accept the connection:
 * later, it may have run.
 *
 * @param ports - of the instances on this host
 */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  let turn = 0;
  const server = createServer(async (req, res) => {
    try {
      const body = Buffer.concat(await req.toArray());
      const first = turn++;
      for (let attempt = 0; attempt < ports.length; attempt += 1) {
        const port = ports[(first + attempt) % ports.length] as number;
        if (await forward(req, res, body, port)) return;
      }
      res.writeHead(503).end();
    } catch {
      res.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, close };
}

/** @returns `false` when the instance does not accept the connection */
function forward(req: IncomingMessage, res: ServerResponse, body: Buffer, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const { method, url, headers } = req;
    const forwarded = request({ host: '127.0.0.1', port, method, path: url, headers, agent: false }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      // An instance that dies breaks its streams.
      answer.on('error', () => res.destroy());
      answer.pipe(res);
      res.on('close', () => answer.destroy());
      resolve(true);
    });
    forwarded.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') return resolve(false);
      res.destroy();
      resolve(true);
    });
    res.on('close', () => forwarded.destroy());
    forwarded.end(body);
  });
}
