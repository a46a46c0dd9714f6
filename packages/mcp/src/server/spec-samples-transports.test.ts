// The samples of the specification, section MCPServer, that start a server, each followed by a call of a client.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { serve as serveWeb } from '@hono/node-server';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createTool } from '@quiver/core/tools';
import { MCPServer } from '@quiver/mcp';
import { toFetchResponse, toReqRes } from 'fetch-to-node';
import { describe, expect, test } from 'vitest';
import { afterTest, serveHttp } from '../../test/after-test.ts';
import { z } from 'zod';
import { commandFor } from '../../test/programs/spawn-server.ts';

const create = (): MCPServer => {
  const greet = createTool({
    id: 'greet',
    description: 'Greets',
    inputSchema: z.object({ name: z.string() }),
    execute: async ({ name }, context) => `Hello ${name}${context.mcp.extra?.sessionId ? ' again' : ''}`,
  });
  const server = new MCPServer({ id: 'my-server', name: 'My Server', version: '1.0.0', tools: { greet } });
  afterTest(() => server.close({ grace: 100 }));
  return server;
};

async function listen(handle: (req: IncomingMessage, res: ServerResponse) => Promise<void>): Promise<string> {
  return (await serveHttp(handle)).origin;
}

/** Results of the official client of SDK 1. */
async function greetThrough(transport: object): Promise<unknown> {
  const client = new Client({ name: 'official', version: '1' });
  // The SDK's types are not made for exactOptionalPropertyTypes.
  await client.connect(transport as never);
  afterTest(() => client.close());
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['greet']);
  const { content } = await client.callTool({ name: 'greet', arguments: { name: 'Ada' } });
  return content;
}

const hello = [{ type: 'text', text: 'Hello Ada again' }];

test('startStdio()', async () => {
  const { command, args } = commandFor('stdio-server.ts');
  const client = new Client({ name: 'official', version: '1' });
  await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }));
  afterTest(() => client.close());
  const { content } = await client.callTool({ name: 'echo', arguments: { message: 'hi' } });
  expect(content).toEqual([{ type: 'text', text: 'hi' }]);
});

test('startSSE()', async () => {
  const server = create();
  const origin = await listen(async (req, res) => {
    await server.startSSE({
      url: new URL(req.url || '', `http://localhost:1234`),
      ssePath: '/sse',
      messagePath: '/message',
      req,
      res,
    });
  });
  expect(await greetThrough(new SSEClientTransport(new URL('/sse', origin)))).toEqual(hello);
  expect(server.getSseTransport()?.sessionId).toEqual(expect.any(String));
});

test('startHonoSSE()', async () => {
  const server = create();
  const origin = await listen(async (req, res) => {
    await server.startHonoSSE({
      url: new URL(req.url || '', `http://localhost:1234`),
      ssePath: '/hono-sse',
      messagePath: '/message',
      req,
      res,
    });
  });
  expect(await greetThrough(new SSEClientTransport(new URL('/hono-sse', origin)))).toEqual(hello);
  expect(server.getSseHonoTransport()?.sessionId).toEqual(expect.any(String));
});

describe('startHTTP()', () => {
  test('in an http server, with ids of its own', async () => {
    const server = create();
    const origin = await listen(async (req, res) => {
      await server.startHTTP({
        url: new URL(req.url || '', 'http://localhost:1234'),
        httpPath: `/mcp`,
        req,
        res,
        options: {
          sessionIdGenerator: () => randomUUID(),
        },
      });
    });
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', origin));
    expect(await greetThrough(transport)).toEqual(hello);
    expect(server.getStreamableHTTPTransport()?.sessionIds).toEqual([transport.sessionId]);
  });

  test('in an edge function, with requests and responses converted', async () => {
    const server = create();
    // Supabase's `serve`, on Node.
    const serve = (fetch: (request: Request) => Promise<Response>): Promise<string> =>
      new Promise((resolve) => {
        const running = serveWeb({ fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
          resolve(`http://127.0.0.1:${port}`),
        );
        afterTest(() => running.close());
      });

    const origin = await serve(async (req) => {
      const url = new URL(req.url);

      if (url.pathname === '/mcp') {
        // Convert Deno Request to Node.js-compatible format
        const { req: nodeReq, res: nodeRes } = toReqRes(req);

        await server.startHTTP({
          url,
          httpPath: '/mcp',
          req: nodeReq,
          res: nodeRes,
          options: {
            serverless: true,
          },
        });

        return toFetchResponse(nodeRes);
      }

      return new Response('Not found', { status: 404 });
    });
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', origin));
    expect(await greetThrough(transport)).toEqual([{ type: 'text', text: 'Hello Ada' }]);
    expect((await fetch(`${origin}/other`)).status).toBe(404);
  });
});
