import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A balancer without stickiness. */
export interface Balancer {
  readonly url: string;
  /**
   * Set while an instance is restarted: an answer of a user is then not delivered at the first time. Its client receives the status 502, or
   * with the header of `repeated` the balancer sends it again, as settings of HAProxy do.
   */
  isRestarting?: boolean;
  /** Answers that were not delivered at the first time. */
  readonly undelivered?: number;
  close(): Promise<void>;
}

/** Header of clients that do not send an answer again. */
export const repeated = { 'x-answers': 'repeated' };

/** Headers for one connection, which are not forwarded. Node's agent obeys `Connection: close` of an instance. */
const connectionHeaders = ['connection', 'keep-alive', 'transfer-encoding'];

/**
 * Sends each request to the next instance, over connections that stay open. A request goes to another instance only when the first one
 * does not accept the connection: later, it may have run.
 *
 * @param ports - of the instances on this host
 */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  let turn = 0;
  const undelivered = new Set<string>();
  const agent = new Agent({ keepAlive: true });
  const server = createServer(async (req, res) => {
    try {
      const body = Buffer.concat(await req.toArray());
      const answer = readAnswer(req, body);
      if (answer !== undefined && balancer.isRestarting && !undelivered.has(answer)) {
        undelivered.add(answer);
        if (req.headers['x-answers'] !== repeated['x-answers']) return void res.writeHead(502).end();
      }
      const first = turn++;
      for (let attempt = 0; attempt < ports.length; attempt += 1) {
        const port = ports[(first + attempt) % ports.length] as number;
        if (await forward(req, res, body, { port, agent })) return;
      }
      res.writeHead(502).end();
    } catch {
      res.destroy();
    }
  });
  // Clients that use an idle connection while it is closed would receive an error.
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    agent.destroy();
  };
  const balancer: Balancer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    isRestarting: false,
    get undelivered() {
      return undelivered.size;
    },
    close,
  };
  return balancer;
}

/** Returns what identifies the answer of a user in a request of 2025-11-25; `undefined` for other requests. */
function readAnswer({ headers }: IncomingMessage, body: Buffer): string | undefined {
  if (body.length === 0) return undefined;
  const { id, method } = JSON.parse(body.toString()) as { id?: number; method?: string };
  return id === undefined || method !== undefined ? undefined : `${String(headers['mcp-session-id'])} ${id}`;
}

/** @returns `false` when the instance does not accept the connection */
function forward(
  req: IncomingMessage,
  res: ServerResponse,
  body: Buffer,
  instance: { port: number; agent: Agent },
): Promise<boolean> {
  return new Promise((resolve) => {
    const { method, url, headers } = req;
    for (const name of connectionHeaders) delete headers[name];
    const forwarded = request({ host: '127.0.0.1', ...instance, method, path: url, headers }, (answer) => {
      for (const name of connectionHeaders) delete answer.headers[name];
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      // An instance that dies breaks its streams.
      answer.on('error', () => res.destroy());
      answer.pipe(res);
      // The client sees the headers of an event stream before its first event.
      res.flushHeaders();
      resolve(true);
    });
    forwarded.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') return resolve(false);
      if (!res.headersSent) res.writeHead(502).end();
      resolve(true);
    });
    res.on('close', () => forwarded.destroy());
    forwarded.end(body);
  });
}
