import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { FastMCP, UserError } from 'fastmcp';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freePort, serveHttp } from '../../test/after-test.ts';
import { z } from 'zod';
import { exampleTools } from '../../test/servers/example-tools.ts';
import { MastraMCPClient } from '../compat/index.js';
import { MCPServer } from '../server/mcp-server.js';
import { scratchFolder } from '../../test/scratch-folder.js';
import { clientOf } from '../../test/clients/client-of.ts';
import { mountSse } from '../../test/servers/mount-server.ts';

const require = createRequire(import.meta.url);
const scratch = scratchFolder();

/** The command line of one of the protocol's reference servers. */
function reference(name: string, ...args: string[]): { command: string; args: string[] } {
  const manifest = require.resolve(`@modelcontextprotocol/server-${name}/package.json`);
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: Record<string, string> };
  const [file = 'dist/index.js'] = Object.values(bin);
  return { command: process.execPath, args: [join(dirname(manifest), file), ...args] };
}

async function startEverything(mode: 'sse' | 'streamableHttp'): Promise<number> {
  const port = await freePort();
  const { command, args } = reference('everything', mode);
  const child = spawn(command, args, {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  while (!said.includes(String(port))) said += String((await once(child.stderr, 'data'))[0]);
  return port;
}

describe('server-everything', () => {
  const cases = [
    { way: 'stdio', define: async () => reference('everything', 'stdio') },
    { way: 'sse', define: async () => ({ url: `http://127.0.0.1:${await startEverything('sse')}/sse` }) },
    { way: 'http', define: async () => ({ url: `http://127.0.0.1:${await startEverything('streamableHttp')}/mcp` }) },
  ] as const;

  test.each(cases)(
    'supports tools, resources, prompts, progress and elicitation over $way',
    async ({ way, define }) => {
      const mcp = clientOf({
        it: {
          ...(await define()),
          roots: [{ uri: pathToFileURL(scratch).href, name: 'scratch' }],
          sampling: async ({ messages }) => ({
            model: 'mine',
            role: 'assistant',
            content: { type: 'text', text: `${messages.length} messages` },
          }),
        },
      });
      await mcp.elicitation.onRequest('it', async ({ requestedSchema }) => {
        expect(Object.keys(requestedSchema.properties)).toContain('name');
        return { action: 'accept', content: { name: 'Ada' } };
      });
      const progress: number[] = [];
      await mcp.progress.onUpdate('it', (update) => progress.push(update.progress));

      const tools = await mcp.listTools();
      expect(await tools['it_echo']?.execute({ message: 'hi' })).toMatchObject({ content: [{ text: 'Echo: hi' }] });
      const weather = await tools['it_get-structured-content']?.execute({ location: 'Chicago' });
      expect(weather).toMatchObject({ temperature: expect.any(Number) });
      const image = await tools['it_get-tiny-image']?.execute({});
      expect(image).toMatchObject({ content: [{}, { type: 'image', mimeType: 'image/png' }, {}] });
      const call = (name: string, args = {}) => mcp.callTool({ serverName: 'it', name, args });
      await call('trigger-long-running-operation', { duration: 0.2, steps: 2 });
      expect(progress).toEqual([1, 2]);
      const asked = await call('trigger-elicitation-request');
      expect(JSON.stringify(asked)).toContain('Ada');
      const sampled = await call('trigger-sampling-request', { prompt: 'x', maxTokens: 5 });
      expect(JSON.stringify(sampled)).toContain('1 messages');

      const { it: resources = [] } = await mcp.resources.list();
      const [first] = resources;
      expect((await mcp.resources.read('it', first?.uri ?? '')).contents[0]?.text).toBeTruthy();
      expect((await mcp.resources.templates())['it']?.length).toBeGreaterThan(0);
      expect((await mcp.prompts.list())['it']?.map(({ name }) => name)).toContain('args-prompt');
      const { messages } = await mcp.prompts.get({ serverName: 'it', name: 'args-prompt', args: { city: 'Oslo' } });
      expect(JSON.stringify(messages)).toContain('Oslo');
      expect(mcp.status()['it']?.transport).toBe(way);
    },
  );
});

describe('other reference servers', () => {
  test('limits the filesystem server to its roots, also when they change', async () => {
    const folder = scratchFolder();
    writeFileSync(join(scratch, 'a.txt'), 'first');
    writeFileSync(join(folder, 'b.txt'), 'second');
    const mcp = clientOf({ files: { ...reference('filesystem'), roots: [{ uri: pathToFileURL(scratch).href }] } });
    const read = (path: string): Promise<unknown> =>
      mcp.callTool({ serverName: 'files', name: 'read_text_file', args: { path } });
    await expect.poll(() => read(join(scratch, 'a.txt'))).toMatchObject({ content: [{ text: 'first' }] });
    expect(await read(join(folder, 'b.txt'))).toMatchObject({ isError: true });
    await mcp.setRoots('files', [{ uri: pathToFileURL(folder).href }]);
    await expect.poll(() => read(join(folder, 'b.txt'))).toMatchObject({ content: [{ text: 'second' }] });
  });

  test('memory and sequential-thinking', async () => {
    const mcp = clientOf({
      memory: { ...reference('memory'), env: { MEMORY_FILE_PATH: join(scratch, 'memory.jsonl') } },
      thinking: reference('sequential-thinking'),
    });
    const tools = await mcp.listTools();
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes programs'] }];
    expect(await tools['memory_create_entities']?.execute({ entities })).toMatchObject({ entities });
    expect(await tools['memory_read_graph']?.execute({})).toMatchObject({ entities, relations: [] });
    const thought = { thought: 'hm', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
    expect(await tools['thinking_sequentialthinking']?.execute(thought)).toMatchObject({ thoughtNumber: 1 });
  });

  test('the older client of one server', async () => {
    const client = new MastraMCPClient({ name: 'it', server: reference('everything', 'stdio') });
    onTestFinished(() => client.disconnect());
    await client.connect();
    await client.connect();
    expect((await client.resources()).resources.length).toBeGreaterThan(0);
    const { echo } = await client.tools();
    expect(await echo?.execute({ message: 'x' })).toMatchObject({ content: [{ text: 'Echo: x' }] });
  });
});

test('@playwright/mcp lists its tools, and no browser is needed for that', async () => {
  const manifest = require.resolve('@playwright/mcp/package.json');
  const mcp = clientOf({
    browser: { command: process.execPath, args: [join(dirname(manifest), 'cli.js'), '--headless'] },
  });
  const tools = await mcp.listTools();
  expect(Object.keys(tools)).toContain('browser_browser_navigate');
  expect(tools['browser_browser_navigate']?.inputSchema).toMatchObject({
    jsonSchema: { type: 'object', required: ['url'] },
  });
  expect(await tools['browser_browser_navigate']?.execute({ address: 'x' })).toMatchObject({
    error: true,
    validationErrors: expect.anything(),
  });
});

test('supports tools, resources, prompts, progress and elicitation of fastmcp', async () => {
  const server = new FastMCP({ name: 'Fast', version: '1.0.0' });
  server.addTool({
    name: 'count',
    parameters: z.object({ to: z.number() }),
    execute: async ({ to }, { reportProgress }) => {
      for (let done = 1; done <= to; done += 1) await reportProgress({ progress: done, total: to });
      return `counted to ${to}`;
    },
  });
  server.addTool({
    name: 'ask',
    execute: async (_, { elicit }) => {
      const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } } };
      const { content } = await elicit({ message: 'Who are you?', requestedSchema });
      return `Hello, ${String(content?.['name'])}`;
    },
  });
  server.addTool({
    name: 'fail',
    execute: async () => {
      throw new UserError('out of paper');
    },
  });
  server.addResource({
    uri: 'file:///notes.txt',
    name: 'Notes',
    mimeType: 'text/plain',
    load: async () => ({ text: 'remember the milk' }),
  });
  server.addPrompt({
    name: 'greet',
    description: 'Greets somebody',
    arguments: [{ name: 'name', required: true }],
    load: async ({ name }) => `Greet ${name}.`,
  });
  const port = await freePort();
  await server.start({ transportType: 'httpStream', httpStream: { port, host: '127.0.0.1', endpoint: '/mcp' } });
  onTestFinished(() => server.stop());

  const mcp = clientOf({ fast: { url: `http://127.0.0.1:${port}/mcp`, connectTimeout: 15_000 } });
  await mcp.elicitation.onRequest('fast', async ({ message }) => ({
    action: 'accept',
    content: { name: `Ada (${message})` },
  }));
  const progress: number[] = [];
  await mcp.progress.onUpdate('fast', (update) => progress.push(update.progress));
  const tools = await mcp.listTools();
  expect(await tools['fast_count']?.execute({ to: 3 })).toMatchObject({ content: [{ text: 'counted to 3' }] });
  expect(progress).toEqual([1, 2, 3]);
  expect(await tools['fast_ask']?.execute({})).toMatchObject({ content: [{ text: 'Hello, Ada (Who are you?)' }] });
  await expect(tools['fast_fail']?.execute({})).rejects.toMatchObject({ code: 'MCP_TOOL_ERROR' });
  expect((await mcp.resources.list())['fast']).toMatchObject([{ uri: 'file:///notes.txt', name: 'Notes' }]);
  expect((await mcp.resources.read('fast', 'file:///notes.txt')).contents).toMatchObject([
    { text: 'remember the milk' },
  ]);
  const { messages } = await mcp.prompts.get({ serverName: 'fast', name: 'greet', args: { name: 'Ada' } });
  expect(messages).toMatchObject([{ content: { text: 'Greet Ada.' } }]);
});

describe('the older HTTP+SSE transport', () => {
  /** A server that answers the first POST with a status, and speaks HTTP+SSE at the same path. */
  async function startOldServer(status: number, body = ''): Promise<{ url: string; streams: () => number }> {
    const server = new MCPServer({ name: 'Old', version: '1', tools: exampleTools });
    let streams = 0;
    const { origin } = await serveHttp((req, res) => {
      const url = new URL(req.url ?? '', 'http://localhost');
      if (url.pathname === '/mcp' && req.method === 'POST') {
        return void res.writeHead(status, { 'content-type': 'application/json' }).end(body);
      }
      if (req.method === 'GET') streams += 1;
      void server.startSSE({ url, ssePath: '/mcp', messagePath: '/message', req, res });
    });
    onTestFinished(() => server.close());
    return { url: `${origin}/mcp`, streams: () => streams };
  }

  test.each([400, 404, 405])('is used when the first POST is answered %i', async (status) => {
    const { url } = await startOldServer(status);
    const mcp = clientOf({ old: { url } });
    expect(await mcp.callTool({ serverName: 'old', name: 'echo', args: { message: 'x' } })).toMatchObject({
      content: [{ text: 'x' }],
    });
    expect(mcp.status()['old']).toMatchObject({ state: 'ready', transport: 'sse' });
  });

  test.each([401, 403, 500, 503])('is not tried after %i; the error contains the status', async (status) => {
    const { url, streams } = await startOldServer(status);
    const mcp = clientOf({ old: { url } });
    const { errorDetails } = await mcp.listToolsWithErrors();
    expect(errorDetails['old']).toMatchObject({ code: 'MCP_CLIENT_CONNECT_FAILED', httpStatus: status });
    expect(streams()).toBe(0);
  });

  test("is not tried after an error in the protocol's own words, nor when it is ruled out", async () => {
    const error = { code: -32_022, message: 'Unsupported protocol version', data: { supported: ['2099-01-01'] } };
    const spoken = await startOldServer(400, JSON.stringify({ jsonrpc: '2.0', id: 0, error }));
    const plain = await startOldServer(405);
    const mcp = clientOf({ spoken: { url: spoken.url }, plain: { url: plain.url, transport: 'http' } });
    const { errors } = await mcp.listToolsWithErrors();
    expect(Object.keys(errors)).toEqual(['spoken', 'plain']);
    expect(spoken.streams() + plain.streams()).toBe(0);
  });

  test('headers reach the stream and the messages', async () => {
    const server = new MCPServer({ name: 'Old', version: '1', tools: exampleTools });
    const seen: string[] = [];
    const url = await mountSse(server, ({ method, headers }) =>
      seen.push(`${method} ${String(headers['x-static'])} ${String(headers['x-dynamic'])}`),
    );
    onTestFinished(() => server.close());
    const mcp = clientOf({
      old: { url, requestInit: { headers: { 'x-static': 'a' } }, headers: { 'x-dynamic': 'b' } },
    });
    expect(Object.keys(await mcp.listTools())).toContain('old_echo');
    expect(new Set(seen)).toEqual(new Set(['GET a b', 'POST a b']));
  });
});
