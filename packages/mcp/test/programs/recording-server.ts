// A server of the official SDK, version 1, with one of everything, which records the messages that it receives. Run with `stdio`, it
// serves on the standard streams; tests start it over HTTP.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { McpError, ResultSchema, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

type Params = Record<string, unknown>;
type Extra = Parameters<NonNullable<Server['fallbackRequestHandler']>>[1];

const icons = [{ src: 'https://example.com/a.png', mimeType: 'image/png' }];
const results: Record<string, (params: Params, extra: Extra) => object | Promise<object>> = {
  'resources/list': ({ cursor }) =>
    cursor === 'more'
      ? { resources: [{ uri: 'note://b', name: 'b' }] }
      : {
          resources: [
            { uri: 'note://a', name: 'a', title: 'A', size: 1, icons, annotations: { priority: 1 }, _meta: { own: 1 } },
          ],
          nextCursor: 'more',
          _meta: { page: 1 },
        },
  'resources/templates/list': () => ({
    resourceTemplates: [{ uriTemplate: 'note://{id}', name: 'n', title: 'N', mimeType: 'text/plain', _meta: { o: 1 } }],
  }),
  'resources/read': ({ uri }) => {
    if (uri !== 'note://a') throw new McpError(-32_002, 'Resource not found', { uri });
    return {
      contents: [
        { uri, text: 'text', mimeType: 'text/plain', _meta: { own: 1 } },
        { uri, blob: 'AAE=' },
      ],
      _meta: { etag: 'x' },
    };
  },
  'resources/subscribe': async ({ uri }, { sendNotification }) => {
    await sendNotification({ method: 'notifications/resources/updated', params: { uri: String(uri) } });
    return {};
  },
  'resources/unsubscribe': () => ({}),
  'prompts/list': () => ({
    prompts: [
      {
        name: 'review',
        title: 'Review',
        icons,
        arguments: [{ name: 'code', title: 'Code', description: 'The code', required: true }],
        _meta: { own: 1 },
      },
    ],
  }),
  'prompts/get': ({ name, arguments: given }) => {
    if (name !== 'review') throw new McpError(-32_602, `Unknown prompt: ${String(name)}`);
    const text = `Review ${String((given as Params | undefined)?.['code'])}`;
    return { description: 'd', messages: [{ role: 'user', content: { type: 'text', text } }], _meta: { own: 1 } };
  },
  'completion/complete': () => ({ completion: { values: ['a', 'b'], total: 2, hasMore: false } }),
  'tools/list': () => ({ tools: [] }),
  'tools/call': async ({ name, arguments: given, _meta }, extra) => {
    const { method = '', params = {} } = (given ?? {}) as { method?: string; params?: Params };
    if (name === 'fail') throw new McpError(-32_099, 'failed', { own: 1 });
    if (name === 'ask') {
      const asked = extra.sendRequest({ method, params } as never, ResultSchema);
      const { code, ...answer } = (await asked.catch(({ code }: McpError) => ({ code }))) as Params;
      return { content: [], structuredContent: code === undefined ? answer : { code } };
    }
    const progressToken = (_meta as Params | undefined)?.['progressToken'] as string | undefined;
    if (progressToken !== undefined)
      await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
    return text('done');
  },
};

const text = (value: string): object => ({ content: [{ type: 'text', text: value }] });

async function connect(transport: StdioServerTransport | StreamableHTTPServerTransport, heard: object[]) {
  const capabilities = { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {} };
  const server = new Server({ name: 'recording', version: '1' }, { capabilities });
  server.fallbackRequestHandler = async ({ method, params = {} }, extra) => {
    const name = (params as Params)['name'];
    if (method === 'tools/call' && name === 'heard') return text(JSON.stringify(heard));
    const handler = results[method];
    if (!handler) throw new McpError(-32_601, 'Method not found');
    return handler(params as Params, extra) as Promise<Params>;
  };
  await server.connect(transport as Parameters<Server['connect']>[0]);
  const { onmessage } = transport;
  const record = (message: JSONRPCMessage, extra?: object): void => {
    const { id, jsonrpc: _, ...described } = message as { id?: unknown; jsonrpc: unknown; params?: Params };
    if (described.params?.['name'] !== 'heard') heard.push({ ...described, hasId: id !== undefined });
    onmessage?.call(transport, message, extra as never);
  };
  Object.assign(transport, { onmessage: record });
}

/** Starts the server over HTTP, for one session. */
export async function startRecordingServer() {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID() });
  await connect(transport, []);
  const http = createServer((request, response) => void transport.handleRequest(request, response));
  // A test that waits for the machine must not find its idle connection closed.
  http.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    http.closeAllConnections();
    http.close();
  };
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, close };
}

if (process.argv[2] === 'stdio') await connect(new StdioServerTransport(), []);
