// Loads what a mode needs: the cold start of the stdio server is measured.
import { createTool } from '@quiver/core/tools';
import { MCPServer, rateLimit, timeLimit } from '@quiver/mcp/server';
import { z } from 'zod';
import { fillers, mode, ready } from './process.mjs';

const tools = {
  echo: createTool({
    id: 'echo',
    description: 'Echoes a message',
    inputSchema: z.object({ message: z.string() }),
    execute: async ({ message }) => message,
  }),
  add: createTool({
    id: 'add',
    description: 'Adds two numbers',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
    execute: async ({ a, b }) => ({ sum: a + b }),
  }),
};
for (const id of fillers()) {
  tools[id] = createTool({
    id,
    description: `Does what ${id} does, with a text, a number and a choice`,
    inputSchema: z.object({
      text: z.string().describe('a text'),
      limit: z.number().optional(),
      kind: z.enum(['a', 'b']),
    }),
    execute: async ({ text }) => text,
  });
}

const server = new MCPServer({ name: 'bench', version: '1.0.0', tools });
let audited = 0;
if (mode === 'middleware') {
  server
    .use({
      async onRequest({ method, name, era, principal }, next) {
        const started = performance.now();
        const outcome = await next();
        const { status, size } = outcome;
        const durationMs = performance.now() - started;
        audited += JSON.stringify({ time: new Date(), method, name, era, principal, status, size, durationMs }).length;
        return outcome;
      },
    })
    .use(rateLimit({ capacity: 1e9, perSecond: 1e9 }))
    .use(timeLimit(60_000));
}
if (mode === 'stdio') await server.startStdio();
else if (mode === 'fetch') {
  // The same server through `fetch()` without a network: the cost of the web-standard path alone.
  ready('fetch:');
  process.on('message', async ({ fetch: count }) => {
    if (!count) return;
    const before = process.cpuUsage();
    for (let id = 0; id < count; id += 1) {
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name: 'echo', arguments: { message: `m${id}` } },
      });
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const response = await server.fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body }), {
        serverless: true,
      });
      if (!(await response.text()).includes(`m${id}`)) throw new Error('The server sent a wrong response.');
    }
    const { user, system } = process.cpuUsage(before);
    process.send({ fetched: (user + system) / count });
  });
} else if (mode === 'http-sse') {
  const { createServer } = await import('node:http');
  const http = createServer((req, res) => {
    const url = new URL(req.url, 'http://127.0.0.1');
    return server.startSSE({ url, ssePath: '/sse', messagePath: '/message', req, res });
  });
  http.listen(0, '127.0.0.1', () => ready(`http://127.0.0.1:${http.address().port}/sse`));
} else if (mode === 'handler' || mode === 'static' || mode === 'jwt') {
  const { createServer } = await import('node:http');
  const auth = await import('@quiver/mcp/auth');
  const tokens = await import('./tokens.mjs');
  const { token, validateToken } = mode === 'jwt' ? jwt(auth, tokens) : withStaticToken(auth, tokens);
  const authenticate = { resource: tokens.audience, authorizationServers: [tokens.issuer], validateToken };
  const options = { serverless: true, ...(mode !== 'handler' && { authenticate }) };
  const http = createServer((req, res) => {
    const url = new URL(req.url, 'http://127.0.0.1');
    return server.startHTTP({ url, httpPath: '/mcp', req, res, options });
  });
  http.listen(0, '127.0.0.1', () => ready(`http://127.0.0.1:${http.address().port}/mcp`, token));
} else {
  const { url } = await server.listen({
    maxSessions: 1e6,
    serverless: mode === 'stateless' || mode === 'middleware',
    maxBodyBytes: 2e7,
  });
  ready(url);
}

function withStaticToken({ createStaticTokenValidator }, { staticToken }) {
  return { token: staticToken, validateToken: createStaticTokenValidator([staticToken]) };
}

function jwt({ createJwtValidator }, { createJwt, issuer }) {
  const { token, jwks } = createJwt();
  const fetch = async () => Response.json(jwks);
  return { token, validateToken: createJwtValidator({ issuer, jwksUri: `${issuer}/jwks`, fetch }) };
}
