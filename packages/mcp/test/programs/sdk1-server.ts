// A server of version 1 of the official SDK: `stdio`, or `http <port>` (prints its URL).
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import process from 'node:process';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

/** Keys in an order that no library would write. */
export const addSchema = {
  additionalProperties: false,
  required: ['a', 'b'],
  properties: { b: { type: 'number' }, a: { type: 'number' } },
  type: 'object',
} as const;

const anything = { type: 'object' } as const;

function createSdkServer(): Server {
  const server = new Server({ name: 'sdk1', version: '1' }, { capabilities: { tools: {}, logging: {} } });
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: [
      {
        name: 'add',
        description: 'Adds',
        inputSchema: addSchema as never,
        outputSchema: { type: 'object', properties: { sum: { type: 'number' } } },
        annotations: { readOnlyHint: true },
      },
      { name: 'arguments', description: 'Returns its arguments', inputSchema: anything },
      { name: 'fail', description: 'Fails', inputSchema: anything },
      { name: 'slow', description: 'Appends its file and never ends', inputSchema: anything },
      { name: 'env', description: 'Names its environment', inputSchema: anything },
      { name: 'exit', description: 'Ends the process', inputSchema: anything },
      { name: 'dotted.name/with spaces', description: 'Has an odd name', inputSchema: anything },
    ],
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const args = params.arguments ?? {};
    const text = (value: string): { content: { type: 'text'; text: string }[] } => ({
      content: [{ type: 'text', text: value }],
    });
    switch (params.name) {
      case 'add': {
        const sum = Number(args['a']) + Number(args['b']);
        return { ...text(String(sum)), structuredContent: { sum } };
      }
      case 'arguments':
        return text(JSON.stringify(args));
      case 'fail':
        return { ...text('no such file'), isError: true };
      case 'slow': {
        const file = String(args['file']);
        appendFileSync(file, 'called\n');
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        appendFileSync(file, 'aborted\n');
        return text('');
      }
      case 'env':
        return text(JSON.stringify(Object.keys(process.env).toSorted()));
      case 'exit':
        process.stderr.write('out of memory, sorry\n');
        process.exit(7);
        break;
      default:
        return text(params.name);
    }
  });
  return server;
}

const [mode, port] = process.argv.slice(2);
if (mode === 'stdio') {
  await createSdkServer().connect(new StdioServerTransport());
} else {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const methods: string[] = [];
  const http = createServer(async (req, res) => {
    if (req.url === '/seen') return void res.end(JSON.stringify(methods.splice(0)));
    const id = req.headers['mcp-session-id'];
    const known = typeof id === 'string' ? transports.get(id) : undefined;
    if (typeof id === 'string' && !known) return void res.writeHead(404).end();
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const body =
      chunks.length === 0 ? undefined : (JSON.parse(Buffer.concat(chunks).toString('utf8')) as { method?: string });
    methods.push(`${req.method} ${body?.method ?? ''}`.trim());
    const transport =
      known ??
      new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (sessionId) => void transports.set(sessionId, transport),
      });
    if (!known) await createSdkServer().connect(transport as Parameters<Server['connect']>[0]);
    await transport.handleRequest(req, res, body);
  });
  // A test that waits for the machine must not find its idle connection closed.
  http.keepAliveTimeout = 600_000;
  http.listen(Number(port ?? 0), '127.0.0.1', () => {
    process.stdout.write(`http://127.0.0.1:${(http.address() as { port: number }).port}/mcp\n`);
  });
}
