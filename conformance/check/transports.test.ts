// Tests the fixtures with the official client over the transports that the official suites do not cover.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serve } from '@hono/node-server';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { Hono } from 'hono';
import { createConformanceServer } from '../src/server.ts';

interface Connected {
  readonly client: Client;
  readonly logged: unknown[];
  close(): Promise<void>;
}

type Transport = Parameters<Client['connect']>[0];

const transports: Record<string, () => Promise<Connected>> = {
  stdio: () =>
    connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [...process.execArgv.filter(isInherited), fileURLToPath(new URL('../src/stdio.ts', import.meta.url))],
      }),
    ),
  'legacy SSE': async () => {
    const server = createConformanceServer();
    const http = createServer((req, res) => {
      const url = new URL(req.url ?? '/', 'http://localhost');
      void server.startSSE({ url, ssePath: '/sse', messagePath: '/message', req, res });
    }).listen(0);
    const { port } = http.address() as AddressInfo;
    return connect(new SSEClientTransport(new URL(`http://localhost:${port}/sse`)), async () => {
      await server.close({ grace: 100 });
      http.close();
      http.closeAllConnections();
    });
  },
  'Hono SSE': async () => {
    const server = createConformanceServer();
    const app = new Hono();
    app.all('*', (context) =>
      server.startHonoSSE({ url: new URL(context.req.url), ssePath: '/sse', messagePath: '/message', context }),
    );
    const http = serve({ fetch: app.fetch, port: 0 });
    if (!http.listening) await new Promise((resolve) => http.once('listening', resolve));
    const { port } = http.address() as AddressInfo;
    return connect(new SSEClientTransport(new URL(`http://localhost:${port}/sse`)), async () => {
      await server.close({ grace: 100 });
      http.close();
      if ('closeAllConnections' in http) http.closeAllConnections();
    });
  },
};

/** Node options of a child process, so that it resolves the same sources or builds as this process. */
function isInherited(argument: string, index: number, all: string[]): boolean {
  return argument.startsWith('--conditions') || argument === '--import' || all[index - 1] === '--import';
}

async function connect(
  transport: Transport | SSEClientTransport | StdioClientTransport,
  stop = async (): Promise<void> => {},
): Promise<Connected> {
  const client = new Client(
    { name: 'transports', version: '1.0.0' },
    { capabilities: { elicitation: {}, sampling: {} } },
  );
  const logged: unknown[] = [];
  client.setRequestHandler(ElicitRequestSchema, async () => ({
    action: 'accept',
    content: { username: 'ada', email: 'ada@example.com' },
  }));
  client.setRequestHandler(CreateMessageRequestSchema, async () => ({
    role: 'assistant',
    model: 'test',
    content: { type: 'text', text: 'Paris' },
  }));
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params.data));
  // The SDK's own transports do not fit its Transport type under exactOptionalPropertyTypes.
  await client.connect(transport as Transport);
  return {
    client,
    logged,
    close: async () => {
      await client.close();
      await stop();
    },
  };
}

for (const [name, open] of Object.entries(transports)) {
  describe(`fixtures over ${name}`, () => {
    test('returns content of every kind and errors, sends logs and progress, and requests input', async () => {
      const { client, logged, close } = await open();
      const contentOf = async (tool: string, args: Record<string, unknown> = {}): Promise<unknown[]> =>
        (await client.callTool({ name: tool, arguments: args })).content as unknown[];
      const typesOf = async (tool: string): Promise<unknown[]> =>
        (await contentOf(tool)).map((part) => (part as { type: string }).type);
      assert.deepEqual(await contentOf('test_simple_text'), [
        { type: 'text', text: 'This is a simple text response for testing.' },
      ]);
      assert.deepEqual(await typesOf('test_image_content'), ['image']);
      assert.deepEqual(await typesOf('test_audio_content'), ['audio']);
      assert.deepEqual(await typesOf('test_multiple_content_types'), ['text', 'image', 'resource']);
      assert.equal((await client.callTool({ name: 'test_error_handling' })).isError, true);
      await contentOf('test_tool_with_logging');
      assert.deepEqual(logged, ['Tool execution started', 'Tool processing data', 'Tool execution completed']);
      const progress: number[] = [];
      await client.callTool({ name: 'test_tool_with_progress' }, undefined, {
        onprogress: (update) => void progress.push(update.progress),
      });
      assert.deepEqual(progress, [0, 50, 100]);
      assert.deepEqual(await contentOf('test_sampling', { prompt: 'Capital of France?' }), [
        { type: 'text', text: 'LLM response: Paris' },
      ]);
      const answer = JSON.stringify({ action: 'accept', content: { username: 'ada', email: 'ada@example.com' } });
      assert.deepEqual(await contentOf('test_elicitation', { message: 'Who?' }), [
        { type: 'text', text: `User response: ${answer}` },
      ]);
      await close();
    });

    test('serves resources, templates, prompts and completions', async () => {
      const { client, close } = await open();
      assert.equal((await client.listResources()).resources.length, 3);
      assert.deepEqual((await client.readResource({ uri: 'test://template/7/data' })).contents, [
        {
          uri: 'test://template/7/data',
          mimeType: 'application/json',
          text: '{"id":"7","templateTest":true,"data":"Data for ID: 7"}',
        },
      ]);
      await assert.rejects(client.readResource({ uri: 'test://nothing' }), { code: -32602 });
      const prompt = { name: 'test_prompt_with_arguments', arguments: { arg1: 'hello', arg2: 'world' } };
      assert.deepEqual((await client.getPrompt(prompt)).messages[0]?.content, {
        type: 'text',
        text: "Prompt with arguments: arg1='hello', arg2='world'",
      });
      const ref = { type: 'ref/prompt' as const, name: prompt.name };
      const { completion } = await client.complete({ ref, argument: { name: 'arg1', value: 'par' } });
      assert.deepEqual(completion.values, ['paris', 'park', 'party']);
      assert.deepEqual(await client.subscribeResource({ uri: 'test://watched-resource' }), {});
      await close();
    });
  });
}
