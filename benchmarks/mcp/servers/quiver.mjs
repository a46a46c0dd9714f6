// Loads what a mode needs: the cold start of the stdio server is measured.
import { createTool } from '@quiver/core/tools';
import { audit, MCPServer, rateLimit, timeLimit } from '@quiver/mcp/server';
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
    .use(audit((entry) => (audited += JSON.stringify(entry).length)))
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
} else if (mode === 'handler' || mode === 'static' || mode === 'jwt') {
  const { createServer } = await import('node:http');
  const auth = await import('@quiver/mcp/auth');
  const { token, validateToken } = mode === 'jwt' ? await jwt(auth) : staticToken(auth);
  const protect = auth.createOAuthMiddleware({
    oauth: {
      resource: 'http://127.0.0.1/mcp',
      authorizationServers: ['http://127.0.0.1'],
      validateToken,
    },
  });
  const http = createServer(async (req, res) => {
    const url = new URL(req.url, 'http://127.0.0.1');
    if (mode !== 'handler' && !(await protect(req, res, url)).proceed) return;
    await server.startHTTP({ url, httpPath: '/mcp', req, res, options: { serverless: true } });
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

function staticToken({ createStaticTokenValidator }) {
  const token = 'a-token';
  return { token, validateToken: createStaticTokenValidator([token]) };
}

/** An ES256 token and the validator that knows its key. */
async function jwt({ createJwtValidator }) {
  const { generateKeyPairSync, sign } = await import('node:crypto');
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = 'http://127.0.0.1';
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const claims = {
    iss: issuer,
    aud: `${issuer}/mcp`,
    sub: 'ada',
    scope: 'mcp:read mcp:write',
    client_id: 'bench',
    exp,
  };
  const signed = `${encode({ alg: 'ES256', typ: 'at+jwt', kid: 'one' })}.${encode(claims)}`;
  const signature = sign('sha256', signed, { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url');
  const keys = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256' }] };
  const fetch = async () => Response.json(keys);
  return {
    token: `${signed}.${signature}`,
    validateToken: createJwtValidator({ issuer, jwksUri: `${issuer}/jwks`, fetch }),
  };
}
