import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { fillers, mode, ready } from './process.mjs';

function createMcpServer() {
  const server = new McpServer({ name: 'bench', version: '1.0.0' });
  server.registerTool(
    'echo',
    { description: 'Echoes a message', inputSchema: z.object({ message: z.string() }) },
    async ({ message }) => ({ content: [{ type: 'text', text: message }] }),
  );
  server.registerTool(
    'add',
    {
      description: 'Adds two numbers',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    async ({ a, b }) => ({
      content: [{ type: 'text', text: JSON.stringify({ sum: a + b }) }],
      structuredContent: { sum: a + b },
    }),
  );
  for (const id of fillers()) {
    const inputSchema = z.object({
      text: z.string().describe('a text'),
      limit: z.number().optional(),
      kind: z.enum(['a', 'b']),
    });
    const description = `Does what ${id} does, with a text, a number and a choice`;
    server.registerTool(id, { description, inputSchema }, async ({ text }) => ({ content: [{ type: 'text', text }] }));
  }
  return server;
}

if (mode === 'stdio') await createMcpServer().connect(new StdioServerTransport());
else if (mode === 'static' || mode === 'jwt') {
  const { createMcpExpressApp, requireBearerAuth } = await import('@modelcontextprotocol/express');
  const { toNodeHandler } = await import('@modelcontextprotocol/node');
  const { createVerifier } = await import('./tokens.mjs');
  const { token, verify } = await createVerifier(mode);
  const app = createMcpExpressApp();
  const serve = toNodeHandler(createMcpHandler(() => createMcpServer()));
  const protect = requireBearerAuth({ verifier: { verifyAccessToken: verify } });
  app.all('/mcp', protect, (req, res) => void serve(req, res, req.body));
  const http = app.listen(0, '127.0.0.1', () => ready(`http://127.0.0.1:${http.address().port}/mcp`, token));
} else {
  const [{ randomUUID }, { createServer }, { NodeStreamableHTTPServerTransport, toNodeHandler }] = await Promise.all([
    import('node:crypto'),
    import('node:http'),
    import('@modelcontextprotocol/node'),
  ]);
  const transports = new Map();
  const stateless = toNodeHandler(createMcpHandler(() => createMcpServer()));
  const http = createServer(async (req, res) => {
    if (mode !== 'sessions') return stateless(req, res);
    let transport = transports.get(req.headers['mcp-session-id']);
    if (!transport) {
      transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void transports.set(id, transport),
        onsessionclosed: (id) => void transports.delete(id),
      });
      await createMcpServer().connect(transport);
    }
    return transport.handleRequest(req, res);
  });
  http.listen(0, '127.0.0.1', () => ready(`http://127.0.0.1:${http.address().port}/mcp`));
}
