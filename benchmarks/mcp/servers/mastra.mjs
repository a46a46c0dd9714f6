// Copied into the temporary folder that @mastra/mcp is installed in.
import { createServer } from 'node:http';
import { createTool } from '@mastra/core/tools';
import { MCPServer } from '@mastra/mcp';
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

const server = new MCPServer({ id: 'bench', name: 'bench', version: '1.0.0', tools });
if (mode === 'stdio') await server.startStdio();
else {
  const hasTokens = mode === 'static' || mode === 'jwt';
  const options = mode === 'stateless' || hasTokens ? { serverless: true } : undefined;
  const { token, protect } = hasTokens ? await withTokens() : {};
  const http = createServer(async (req, res) => {
    const url = new URL(req.url ?? '', 'http://localhost');
    if (protect && !(await protect(req, res, url)).proceed) return;
    await server.startHTTP({ url, httpPath: '/mcp', req, res, ...(options && { options }) });
  });
  http.listen(0, '127.0.0.1', () => ready(`http://127.0.0.1:${http.address().port}/mcp`, token));
}

async function withTokens() {
  const { createOAuthMiddleware, createStaticTokenValidator } = await import('@mastra/mcp');
  const { audience, createVerifier, issuer } = await import('./tokens.mjs');
  const { token, verify } = await createVerifier(mode);
  const validateToken = async (given) => {
    try {
      const { scopes, extra, expiresAt } = await verify(given);
      return { valid: true, scopes, subject: extra.sub, expiresAt };
    } catch {
      return { valid: false, error: 'invalid_token' };
    }
  };
  const oauth = {
    resource: audience,
    authorizationServers: [issuer],
    validateToken: mode === 'static' ? createStaticTokenValidator([token]) : validateToken,
  };
  return { token, protect: createOAuthMiddleware({ oauth }) };
}
