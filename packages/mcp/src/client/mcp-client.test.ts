import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setDefaultLogger, getDefaultLogger } from '@quiver/core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { exampleTools } from '../../test/servers/example-tools.ts';
import { commandFor, spawnHttpServer, type SpawnedServer } from '../../test/programs/spawn-server.ts';
import { MCPServer } from '../server/mcp-server.js';
import type { McpHttpServer } from '../server/http/listen.js';
import { MCPClient } from './mcp-client.js';
import type { RemoteTool } from './tools/remote-tool.js';
import { scratchFolder } from '../../test/scratch-folder.js';

const scratch = scratchFolder();
const require = createRequire(import.meta.url);
const everything = {
  command: process.execPath,
  args: [
    join(dirname(require.resolve('@modelcontextprotocol/server-everything/package.json')), 'dist/index.js'),
    'stdio',
  ],
};

const server = new MCPServer({ name: 'Example', version: '1.2.3', tools: exampleTools });
let ours: McpHttpServer;
let sdk1: SpawnedServer;
const logged: string[] = [];
const quietLogger = { debug() {}, info() {}, warn() {}, error: (message: string) => void logged.push(message) };
const usualLogger = getDefaultLogger();

beforeAll(async () => {
  setDefaultLogger(quietLogger);
  ours = await server.listen();
  sdk1 = await spawnHttpServer('sdk1-server.ts', 'http');
});
afterAll(async () => {
  setDefaultLogger(usualLogger);
  await server.close();
  await sdk1.stop();
});

const sdk1Stdio = (): ReturnType<typeof commandFor> => commandFor('sdk1-server.ts', 'stdio');

/** A tool that must be there. */
function pick(tools: Record<string, RemoteTool>, name: string): RemoteTool {
  const tool = tools[name];
  if (!tool) throw new Error(`no tool ${name} among ${Object.keys(tools).join(', ')}`);
  return tool;
}

describe('servers of every kind', () => {
  test('connects to stdio and HTTP servers of both eras at once', async () => {
    await using mcp = new MCPClient({
      id: 'all',
      servers: {
        everything,
        sdkStdio: sdk1Stdio(),
        sdkHttp: { url: sdk1.url },
        oursStdio: commandFor('stdio-server.ts'),
        oursHttp: { url: new URL(ours.url) },
        oursModern: { url: ours.url, protocol: 'modern' },
        oursLegacy: { url: ours.url, protocol: 'legacy' },
      },
    });
    const tools = await mcp.listTools();
    expect(Object.keys(tools)).toEqual(
      expect.arrayContaining(['everything_echo', 'sdkStdio_add', 'sdkHttp_add', 'oursHttp_whoami']),
    );
    expect(await pick(tools, 'everything_echo').execute({ message: 'hi' })).toMatchObject({
      content: [{ type: 'text', text: 'Echo: hi' }],
    });
    for (const name of ['sdkStdio', 'sdkHttp', 'oursStdio', 'oursHttp', 'oursModern', 'oursLegacy']) {
      expect([name, await pick(tools, `${name}_add`).execute({ a: 2, b: 3 })]).toEqual([name, { sum: 5 }]);
    }
    expect(await pick(tools, 'oursModern_image').execute({})).toMatchObject({
      content: [{ type: 'image', mimeType: 'image/png' }],
    });
  });

  test('toolsets are nested by server and keep the original names', async () => {
    await using mcp = new MCPClient({ id: 'sets', servers: { sdk: sdk1Stdio() } });
    const { sdk } = await mcp.listToolsets();
    expect(Object.keys(sdk ?? {})).toContain('dotted.name/with spaces');
  });

  test('names that providers refuse are replaced', async () => {
    await using mcp = new MCPClient({ id: 'names', servers: { sdk: { url: sdk1.url } } });
    expect(Object.keys(await mcp.listTools())).toContain('sdk_dotted_name_with_spaces');
  });

  test('schemas arrive byte for byte and arguments leave as they were given', async () => {
    await using mcp = new MCPClient({ id: 'bytes', servers: { http: { url: sdk1.url }, stdio: sdk1Stdio() } });
    const tools = await mcp.listTools();
    const written =
      '{"additionalProperties":false,"required":["a","b"],"properties":{"b":{"type":"number"},"a":{"type":"number"}},"type":"object"}';
    for (const name of ['http', 'stdio']) {
      expect(JSON.stringify((pick(tools, `${name}_add`).inputSchema as { jsonSchema?: unknown }).jsonSchema)).toBe(
        written,
      );
      const odd = { z: 1, a: { nested: [null, 'ü'] }, __extra: true };
      const result = (await pick(tools, `${name}_arguments`).execute(odd)) as { content: [{ text: string }] };
      expect(result.content[0].text).toBe(JSON.stringify(odd));
    }
  });

  test('wrong arguments are refused before they are sent', async () => {
    await using mcp = new MCPClient({ id: 'invalid', servers: { sdk: sdk1Stdio() } });
    expect(await pick(await mcp.listTools(), 'sdk_add').execute({ a: 'one' })).toMatchObject({
      error: true,
      message: expect.stringMatching(/- a: .*number/),
    });
  });

  test('an error result throws, or is returned on request', async () => {
    await using throwing = new MCPClient({ id: 'throwing', servers: { sdk: { url: sdk1.url } } });
    await expect(pick(await throwing.listTools(), 'sdk_fail').execute({})).rejects.toMatchObject({
      code: 'MCP_TOOL_ERROR',
      message: 'no such file',
    });
    await using returning = new MCPClient({
      id: 'returning',
      servers: { sdk: { url: sdk1.url, onToolError: 'return' } },
    });
    expect(await pick(await returning.listTools(), 'sdk_fail').execute({})).toMatchObject({ isError: true });
  });

  test('remote tools can be served again', async () => {
    await using mcp = new MCPClient({ id: 'again', servers: { sdk: sdk1Stdio() } });
    const proxy = await new MCPServer({ name: 'Proxy', version: '1', tools: await mcp.listTools() }).listen();
    await using second = new MCPClient({ id: 'second', servers: { proxy: { url: proxy.url } } });
    expect(await pick(await second.listTools(), 'proxy_sdk_add').execute({ a: 1, b: 1 })).toEqual({ sum: 2 });
    await proxy.close();
  });

  test('probes the era of a legacy server once per process', async () => {
    const fresh = await spawnHttpServer('sdk1-server.ts', 'http');
    try {
      const seenThere = async (): Promise<string[]> =>
        (await (await fetch(new URL('/seen', fresh.url))).json()) as string[];
      for (const round of [1, 2]) {
        await using mcp = new MCPClient({ id: `era ${round}`, servers: { fresh: { url: fresh.url } } });
        await mcp.listTools();
        const probes = (await seenThere()).filter((line) => line.includes('server/discover'));
        expect(probes).toHaveLength(round === 1 ? 1 : 0);
      }
    } finally {
      await fresh.stop();
    }
  });
});

describe('errors', () => {
  test('a dead, a silent and a wrong server do not take the others along', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    await using mcp = new MCPClient({
      id: 'errors',
      servers: {
        good: { url: ours.url },
        refused: { url: `http://127.0.0.1:${await closedPort()}/mcp` },
        silent: { url: `http://127.0.0.1:${port}/mcp`, connectTimeout: 500 },
        crashing: { command: process.execPath, args: ['-e', 'console.error("no license"); process.exit(3)'] },
        missing: { command: '/nonexistent/program' },
        wrong: { url: ours.url.replace('/mcp', '/other') },
      },
    });
    const { tools, errors, errorDetails } = await mcp.listToolsWithErrors();
    expect(Object.keys(tools)).toHaveLength(Object.keys(exampleTools).length);
    expect(Object.keys(errors).toSorted()).toEqual(['crashing', 'missing', 'refused', 'silent', 'wrong']);
    expect(errors['crashing']).toMatch(/exited with code 3.*no license/s);
    expect(errors['missing']).toContain('ENOENT');
    expect(errors['refused']).toContain('ECONNREFUSED');
    expect(errors['silent']).toContain('500 ms');
    expect(errorDetails['refused']?.code).toBe('MCP_CLIENT_CONNECT_FAILED');
    expect(Object.keys(await mcp.listTools())).toHaveLength(Object.keys(exampleTools).length);
    expect(logged.some((line) => line.includes('refused'))).toBe(true);
    silent.close();
  });

  test('no server at all is an error, not an empty set', async () => {
    await using mcp = new MCPClient({ id: 'none', servers: { refused: { url: 'http://127.0.0.1:1/mcp' } } });
    await expect(mcp.listTools()).rejects.toMatchObject({ code: 'MCP_CLIENT_GET_TOOLS_FAILED' });
    await expect(mcp.listToolsets()).rejects.toMatchObject({ code: 'MCP_CLIENT_GET_TOOLSETS_FAILED' });
  });

  test('a killed process rejects the call, runs nothing twice, and is started again by the next call', async () => {
    const file = join(scratch, 'killed');
    await using mcp = new MCPClient({ id: 'killed', servers: { sdk: sdk1Stdio() } });
    const tools = await mcp.listTools();
    const lost = pick(tools, 'sdk_slow').execute({ file });
    const outcome = lost.catch((error: unknown) => error);
    await expect.poll(() => linesOf(file)).toEqual(['called']);
    // The process ends itself, with a last word on standard error.
    await expect(pick(tools, 'sdk_exit').execute({})).rejects.toThrow(/exited with code 7.*out of memory/s);
    expect(await outcome).toMatchObject({ code: 'MCP_CONNECTION_CLOSED' });
    expect(linesOf(file)).toEqual(['called']);
    expect(await pick(tools, 'sdk_add').execute({ a: 1, b: 2 })).toEqual({ sum: 3 });
    expect(linesOf(file)).toEqual(['called']);
  });

  test('a process inherits only what it needs, and what it is given', async () => {
    process.env['SECRET_OF_THE_HOST'] = 'x';
    await using mcp = new MCPClient({ id: 'env', servers: { sdk: { ...sdk1Stdio(), env: { GIVEN: 'yes' } } } });
    const result = (await pick(await mcp.listTools(), 'sdk_env').execute({})) as { content: [{ text: string }] };
    const names = JSON.parse(result.content[0].text) as string[];
    expect(names).toContain('GIVEN');
    expect(names).not.toContain('SECRET_OF_THE_HOST');
    expect(
      names.filter((name) => !['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'GIVEN', 'PWD'].includes(name)),
    ).toEqual([]);
  });

  test('arguments never meet a shell', async () => {
    const hostile = '$(touch /tmp/quiver-owned); `id` && "';
    await using mcp = new MCPClient({
      id: 'shell',
      servers: {
        odd: { command: process.execPath, args: ['-e', 'console.error(process.argv[1]); process.exit(1)', hostile] },
      },
    });
    const { errors } = await mcp.listToolsWithErrors();
    expect(errors['odd']).toContain(hostile);
  });

  test.each(['stdio', 'http'] as const)('an abort over %s rejects at once and reaches the server', async (kind) => {
    const file = join(scratch, `abort-${kind}`);
    await using mcp = new MCPClient({
      id: `abort ${kind}`,
      servers: { sdk: kind === 'stdio' ? sdk1Stdio() : { url: sdk1.url } },
    });
    const controller = new AbortController();
    const running = pick(await mcp.listTools(), 'sdk_slow').execute({ file }, { abortSignal: controller.signal });
    const outcome = running.catch((error: unknown) => error);
    await expect.poll(() => linesOf(file)).toEqual(['called']);
    controller.abort();
    expect(await outcome).toMatchObject({ name: 'AbortError' });
    await expect.poll(() => linesOf(file)).toEqual(['called', 'aborted']);
  });

  test.each(['stdio', 'http'] as const)('reports a timeout over %s and cancels the request', async (kind) => {
    const file = join(scratch, `timeout-${kind}`);
    const definition = kind === 'stdio' ? sdk1Stdio() : { url: sdk1.url };
    await using mcp = new MCPClient({
      id: `timeout ${kind}`,
      servers: { sdk: { ...definition, connectTimeout: 10_000 } },
      timeout: 3000,
    });
    await expect(pick(await mcp.listTools(), 'sdk_slow').execute({ file })).rejects.toMatchObject({
      code: 'MCP_REQUEST_TIMEOUT',
    });
    await expect.poll(() => linesOf(file)).toEqual(['called', 'aborted']);
  });

  test('a restarted server is initialized once more and the call succeeds', async () => {
    const first = await spawnHttpServer('http-server.ts');
    await using mcp = new MCPClient({ id: 'restart', servers: { it: { url: first.url, protocol: 'legacy' } } });
    const tools = await mcp.listTools();
    await first.stop();
    const second = await spawnHttpServer('http-server.ts', String(first.port));
    onTestFinished(() => second.stop());
    expect(await Promise.all([1, 2, 3].map((a) => pick(tools, 'it_add').execute({ a, b: 1 })))).toEqual([
      { sum: 2 },
      { sum: 3 },
      { sum: 4 },
    ]);
    await second.stop();
  });

  test('stray output of a server is skipped and logged', async () => {
    const messages: string[] = [];
    const { command, args } = sdk1Stdio();
    const noisy = { command, args: ['--import', 'data:text/javascript,console.log("Welcome!")', ...args] };
    await using mcp = new MCPClient({
      id: 'noisy',
      servers: { noisy: { ...noisy, log: ({ message }) => void messages.push(message) } },
    });
    expect(Object.keys(await mcp.listTools())).toContain('noisy_add');
    expect(messages.some((message) => message.startsWith('[noisy]') && message.includes('Welcome!'))).toBe(true);
  });

  test('disconnect may be repeated, and a later call connects again', async () => {
    const mcp = new MCPClient({ id: 'bye', servers: { sdk: sdk1Stdio() } });
    await mcp.listTools();
    await Promise.all([mcp.disconnect(), mcp.disconnect()]);
    await mcp.disconnect();
    expect(Object.keys(await mcp.listTools())).toContain('sdk_add');
    await mcp.disconnect();
  });

  test('parallel first calls share one connection', async () => {
    await using mcp = new MCPClient({ id: 'shared', servers: { sdk: { url: sdk1.url } } });
    await fetch(new URL('/seen', sdk1.url));
    await Promise.all([mcp.listTools(), mcp.listTools(), mcp.listToolsets()]);
    const seen = (await (await fetch(new URL('/seen', sdk1.url))).json()) as string[];
    expect(seen.filter((line) => line === 'POST initialize')).toHaveLength(1);
  });
});

describe('instances', () => {
  test('the same configuration twice without id is refused until the first is disconnected', async () => {
    const options = { servers: { a: { url: 'http://127.0.0.1:1/mcp' } } };
    const first = new MCPClient(options);
    expect(() => new MCPClient(structuredClone(options))).toThrow(
      expect.objectContaining({ code: 'MCP_CLIENT_DUPLICATE' }),
    );
    await first.disconnect();
    await new MCPClient(options).disconnect();
  });

  test('functions are part of the configuration', async () => {
    const define = (): ConstructorParameters<typeof MCPClient>[0] => ({
      servers: { a: { url: 'http://127.0.0.1:1/mcp', fetch: (url, init) => fetch(url, init) } },
    });
    const [first, second] = [new MCPClient(define()), new MCPClient(define())];
    expect(second).not.toBe(first);
    await Promise.all([first.disconnect(), second.disconnect()]);
  });

  test('clients of the same id and configuration share connections, which the last one ends', async () => {
    const options = (): ConstructorParameters<typeof MCPClient>[0] => ({ id: 'shared', servers: { it: sdk1Stdio() } });
    const [first, second] = [new MCPClient(options()), new MCPClient(options())];
    expect(second).not.toBe(first);
    await first.listTools();
    expect(second.status()['it']?.state).toBe('ready');
    const call = second.callTool({ serverName: 'it', name: 'add', args: { a: 1, b: 2 } });
    await first.disconnect();
    expect(await call).toMatchObject({ structuredContent: { sum: 3 } });
    expect(first.status()['it']?.state).toBe('ready');
    await second.disconnect();
    expect(second.status()['it']?.state).toBe('idle');
  });

  test('a client of the same id and another configuration ends the connections of the previous one', async () => {
    const first = new MCPClient({ id: 'x', servers: { a: server } });
    await first.listTools();
    const second = new MCPClient({ id: 'x', servers: { b: server } });
    expect(first.status()['a']?.state).toBe('idle');
    await second.disconnect();
  });

  test('a definition without command and url is refused', () => {
    expect(() => new MCPClient({ servers: { a: { url: 'file:///etc/passwd' } } })).toThrow(
      expect.objectContaining({ code: 'OPTIONS_INVALID' }),
    );
  });
});

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').trim().split('\n');
  } catch {
    return [];
  }
}

/** A port that nothing listens on. */
async function closedPort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
