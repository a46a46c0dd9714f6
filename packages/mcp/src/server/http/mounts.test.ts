import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { connectV1, connectV2, modernPin } from '../../../test/clients/real-clients.ts';
import { exampleTools } from '../../../test/servers/example-tools.ts';
import { mcpHosts, startHost, type McpHost } from '../../../test/servers/mcp-hosts.ts';
import { bothTransports } from '../../../test/servers/mount-server.ts';
import { modern, openSession, rpc, send } from '../../../test/clients/wire.ts';
import { MCPServer } from '../mcp-server.js';

/** Answers with a text of the given length, as JSON or, after a notification, as an event stream. */
const text = toolOf(
  'text',
  { inputSchema: z.object({ length: z.number(), streams: z.boolean() }) },
  async ({ length, streams }, { mcp }) => {
    if (streams) await mcp.extra?.sendNotification?.({ method: 'notifications/message', params: { level: 'info' } });
    return 'é'.repeat(length);
  },
);

const lengths = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? index * 7 : index ** 4));

describe.each(mcpHosts)('in %s', (_name, serve) => {
  const server = new MCPServer({ name: 'Mounted', version: '1.0.0', tools: { ...exampleTools, text } });
  let url: string;
  beforeAll(async () => {
    const host = await startHost(serve, server);
    url = host.url;
    return host.close;
  });

  test.each([
    ['JSON', false],
    ['event stream', true],
  ])('20 %s responses of different lengths arrive whole', async (_form, streams) => {
    const session = await openSession(url);
    const returned: number[] = [];
    for (const [index, length] of lengths.entries()) {
      const params = { name: 'text', arguments: { length, streams } };
      const call =
        index % 4 < 2
          ? modern('tools/call', params, index)
          : { headers: session, body: rpc('tools/call', params, index) };
      const { status, headers, json, events } = await send(url, call);
      expect(status).toBe(200);
      expect(headers['content-type']).toMatch(streams ? 'text/event-stream' : 'application/json');
      const answer = streams ? events.at(-1) : json;
      expect(answer.id).toBe(index);
      returned.push(answer.result.content[0].text.length);
    }
    expect(returned).toEqual(lengths);
  });

  test('serves tools and progress notifications to clients of both SDKs and both eras', async () => {
    const first = await connectV1(new HttpV1(new URL(url)));
    const second = await connectV2(modernPin, new HttpV2(new URL(url)));
    for (const client of [first, second]) {
      const { tools } = await client.listTools();
      expect(tools).toHaveLength(Object.keys(exampleTools).length + 1);
      const params = { name: 'add', arguments: { a: 1, b: 2 } };
      expect(await client.callTool(params)).toMatchObject({ structuredContent: { sum: 3 } });
    }
    const seen: number[] = [];
    const onprogress = ({ progress }: { progress: number }): void => void seen.push(progress);
    await first.callTool({ name: 'steps' }, undefined, { onprogress });
    await second.callTool({ name: 'steps' }, { onprogress });
    expect(seen).toEqual([1, 2, 1, 2]);
    await first.close();
    await second.close();
  });

  test('passes the identity of the caller to tools and binds its session to it', async () => {
    const authorization = 'Bearer ada';
    const session = await openSession(url, { authorization });
    const body = rpc('tools/call', { name: 'whoami', arguments: {} });
    const legacy = await send(url, { headers: { ...session, authorization }, body });
    const now = await send(url, modern('tools/call', { name: 'whoami', arguments: {} }, 1, { authorization }));
    for (const { json } of [legacy, now]) {
      expect(JSON.parse(json.result.content[0].text)).toMatchObject({ authInfo: { extra: { userId: 'Ada' } } });
    }
    expect((await send(url, { headers: session, body })).status).toBe(404);
  });

  test('refuses a foreign Host header and invalid JSON', async () => {
    expect((await send(url, { headers: { host: 'evil.example' }, body: rpc('ping') })).status).toBe(403);
    expect((await send(url, { body: '{"jsonrpc":' })).status).toBe(400);
    expect((await openSession(url))['mcp-session-id']).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('mcp-remote', () => {
  const bridge = fileURLToPath(new URL('../../../node_modules/mcp-remote/dist/proxy.js', import.meta.url));
  const server = new MCPServer({ name: 'Remote', version: '1.0.0', tools: exampleTools });
  let host: McpHost;
  beforeAll(async () => {
    host = await startHost(() => createServer(bothTransports(server)), server);
    return host.close;
  });

  test.each([
    ['Streamable HTTP', '/mcp', 'http-only'],
    ['HTTP+SSE', '/sse', 'sse-only'],
    ['HTTP+SSE, found out by itself', '/sse', 'http-first'],
  ])('bridges a stdio client to %s', async (_name, path, strategy) => {
    const url = new URL(path, host.url).href;
    const args = [bridge, url, '--allow-http', '--transport', strategy];
    const client = await connectV1(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }));
    expect((await client.listTools()).tools).toHaveLength(Object.keys(exampleTools).length);
    expect(await client.callTool({ name: 'echo', arguments: { message: 'over the bridge' } })).toMatchObject({
      content: [{ text: 'over the bridge' }],
    });
    await client.close();
  });
});
