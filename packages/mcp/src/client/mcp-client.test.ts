import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setDefaultLogger, getDefaultLogger } from '@quiver/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exampleTools } from '../../test/servers/example-tools.ts';
import { commandFor, spawnHttpServer, type SpawnedServer } from '../../test/programs/spawn-server.ts';
import { MCPServer } from '../server/mcp-server.js';
import { MCPClient } from './mcp-client.js';
import { scratchFolder } from '../../test/scratch-folder.js';
import { clientOf, pick } from '../../test/clients/client-of.ts';

const scratch = scratchFolder();
const server = new MCPServer({ name: 'Example', version: '1.2.3', tools: exampleTools });
let sdk1: SpawnedServer;
const quietLogger = { debug() {}, info() {}, warn() {}, error() {} };
const usualLogger = getDefaultLogger();

beforeAll(async () => {
  setDefaultLogger(quietLogger);
  sdk1 = await spawnHttpServer('sdk1-server.ts', 'http');
});
afterAll(async () => {
  setDefaultLogger(usualLogger);
  await server.close();
  await sdk1.stop();
});

const sdk1Stdio = (): ReturnType<typeof commandFor> => commandFor('sdk1-server.ts', 'stdio');

describe('servers of every kind', () => {
  test('schemas arrive byte for byte and arguments leave as they were given', async () => {
    const mcp = clientOf({ http: { url: sdk1.url }, stdio: sdk1Stdio() });
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
  test('no server at all is an error, not an empty set', async () => {
    const mcp = clientOf({ refused: { url: 'http://127.0.0.1:1/mcp' } });
    await expect(mcp.listTools()).rejects.toMatchObject({ code: 'MCP_CLIENT_GET_TOOLS_FAILED' });
    await expect(mcp.listToolsets()).rejects.toMatchObject({ code: 'MCP_CLIENT_GET_TOOLSETS_FAILED' });
  });

  test('a killed process rejects the call, runs nothing twice, and is started again by the next call', async () => {
    const file = join(scratch, 'killed');
    const mcp = clientOf({ sdk: sdk1Stdio() });
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
    const mcp = clientOf({ sdk: { ...sdk1Stdio(), env: { GIVEN: 'yes' } } });
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
    const mcp = clientOf({
      odd: { command: process.execPath, args: ['-e', 'console.error(process.argv[1]); process.exit(1)', hostile] },
    });
    const { errors } = await mcp.listToolsWithErrors();
    expect(errors['odd']).toContain(hostile);
  });

  test('stray output of a server is skipped and logged', async () => {
    const messages: string[] = [];
    const { command, args } = sdk1Stdio();
    const noisy = { command, args: ['--import', 'data:text/javascript,console.log("Welcome!")', ...args] };
    const mcp = clientOf({ noisy: { ...noisy, log: ({ message }) => void messages.push(message) } });
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
});

describe('instances', () => {
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
});

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').trim().split('\n');
  } catch {
    return [];
  }
}
