import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';
import { fillers, mode, ready } from './process.mjs';

function createMcpServer() {
  const server = new McpServer({ name: 'bench', version: '1.0.0' });
  server.registerTool(
    'echo',
    { description: 'Echoes a message', inputSchema: { message: z.string() } },
    async ({ message }) => ({
      content: [{ type: 'text', text: message }],
    }),
  );
  server.registerTool(
    'add',
    {
      description: 'Adds two numbers',
      inputSchema: { a: z.number(), b: z.number() },
      outputSchema: { sum: z.number() },
    },
    async ({ a, b }) => ({
      content: [{ type: 'text', text: JSON.stringify({ sum: a + b }) }],
      structuredContent: { sum: a + b },
    }),
  );
  for (const id of fillers()) {
    const inputSchema = { text: z.string().describe('a text'), limit: z.number().optional(), kind: z.enum(['a', 'b']) };
    const description = `Does what ${id} does, with a text, a number and a choice`;
    server.registerTool(id, { description, inputSchema }, async ({ text }) => ({ content: [{ type: 'text', text }] }));
  }
  return server;
}

if (mode === 'stdio') await createMcpServer().connect(new StdioServerTransport());
else if (mode === 'static' || mode === 'jwt') {
  const { requireBearerAuth } = await import('@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js');
  const { createMcpExpressApp } = await import('@modelcontextprotocol/sdk/server/express.js');
  const { StreamableHTTPServerTransport } = await import('@modelcontextprotocol/sdk/server/streamableHttp.js');
  const { createVerifier } = await import('./tokens.mjs');
  const { token, verify } = await createVerifier(mode);
  const app = createMcpExpressApp();
  app.post('/mcp', requireBearerAuth({ verifier: { verifyAccessToken: verify } }), async (req, res) => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    const server = createMcpServer();
    res.on('close', () => void server.close());
    await server.connect(transport);
    await transport.handleRequest(req, res, req.body);
  });
  const http = app.listen(0, '127.0.0.1', () => ready(`http://127.0.0.1:${http.address().port}/mcp`, token));
} else if (mode === 'http-sse') {
  const { createServer } = await import('node:http');
  const { SSEServerTransport } = await import('@modelcontextprotocol/sdk/server/sse.js');
  const transports = new Map();
  const http = createServer(async (req, res) => {
    const session = new URL(req.url, 'http://127.0.0.1').searchParams.get('sessionId');
    if (req.method === 'POST') return transports.get(session).handlePostMessage(req, res);
    const transport = new SSEServerTransport('/message', res);
    transports.set(transport.sessionId, transport);
    await createMcpServer().connect(transport);
  });
  http.listen(0, '127.0.0.1', () => ready(`http://127.0.0.1:${http.address().port}/sse`));
} else {
  const [{ randomUUID }, { createServer }, { StreamableHTTPServerTransport }] = await Promise.all([
    import('node:crypto'),
    import('node:http'),
    import('@modelcontextprotocol/sdk/server/streamableHttp.js'),
  ]);
  const transports = new Map();
  const http = createServer(async (req, res) => {
    if (mode === 'stateless') {
      const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
      const server = createMcpServer();
      res.on('close', () => void server.close());
      await server.connect(transport);
      return transport.handleRequest(req, res);
    }
    let transport = transports.get(req.headers['mcp-session-id']);
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
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
