// Copied into the temporary folder that fastmcp is installed in.
import { createServer } from 'node:net';
import { FastMCP } from 'fastmcp';
import { z } from 'zod';
import { fillers, mode, ready } from './process.mjs';

const hasTokens = mode === 'static' || mode === 'jwt';
const { token, verify } = hasTokens ? await (await import('./tokens.mjs')).createVerifier(mode) : {};
const server = new FastMCP({ name: 'bench', version: '1.0.0', ...(hasTokens && { authenticate }) });
server.addTool({
  name: 'echo',
  description: 'Echoes a message',
  parameters: z.object({ message: z.string() }),
  execute: async ({ message }) => message,
});
server.addTool({
  name: 'add',
  description: 'Adds two numbers',
  parameters: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ sum: z.number() }),
  execute: async ({ a, b }) => ({
    content: [{ type: 'text', text: JSON.stringify({ sum: a + b }) }],
    structuredContent: { sum: a + b },
  }),
});
for (const name of fillers()) {
  server.addTool({
    name,
    description: `Does what ${name} does, with a text, a number and a choice`,
    parameters: z.object({
      text: z.string().describe('a text'),
      limit: z.number().optional(),
      kind: z.enum(['a', 'b']),
    }),
    execute: async ({ text }) => text,
  });
}

if (mode === 'stdio') await server.start({ transportType: 'stdio' });
else {
  const port = await new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = probe.address();
      probe.close(() => resolve(free));
    });
  });
  await server.start({
    transportType: 'httpStream',
    httpStream: { port, host: '127.0.0.1', endpoint: '/mcp', stateless: mode === 'stateless' || hasTokens },
  });
  ready(`http://127.0.0.1:${port}/mcp`, token);
}

async function authenticate({ headers }) {
  const { authorization = '' } = headers;
  try {
    if (!authorization.startsWith('Bearer ')) throw new Error('There is no token.');
    return await verify(authorization.slice('Bearer '.length));
  } catch {
    throw new Response(null, { status: 401, statusText: 'Unauthorized' });
  }
}
