import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { createTool } from '@quiver/core/tools';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { scratchFolder } from '../../../mcp/test/scratch-folder.ts';
import type { MastraMCPServerDefinition, ServerDefinition } from '@quiver/mcp/client';
import { MCPServer } from '@quiver/mcp/server';
import { createSecretCutter } from './cut-secrets.js';
import { createCassette, createTestClient, type Cassette, type CassetteOptions, type TestClient } from './index.js';
import { mcpMatchers } from './vitest.js';

expect.extend(mcpMatchers);

const require = createRequire(import.meta.url);
const everything = {
  command: process.execPath,
  args: [require.resolve('@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'],
};

/** Counts calls, so that a test sees which reached the server. */
let calls = 0;
function createWeather(tools: object = {}): MCPServer {
  const server = new MCPServer({
    name: 'Weather',
    version: '1.0.0',
    instructions: 'Ask for cities.',
    tools: {
      forecast: createTool({
        id: 'forecast',
        description: 'Forecast of a city',
        inputSchema: z.object({ city: z.string(), days: z.number().optional(), apiKey: z.string().optional() }),
        outputSchema: z.object({ call: z.number(), accessToken: z.string() }),
        execute: async ({ city }) => {
          calls += 1;
          if (city === 'Atlantis') throw new Error('Atlantis has no weather');
          return { call: calls, accessToken: 'secret-of-the-server' };
        },
      }),
      order: createTool({
        id: 'order',
        description: 'Asks for the size',
        execute: async (_input, { mcp }) => {
          calls += 1;
          const requestedSchema = { type: 'object' as const, properties: { size: { type: 'string' as const } } };
          const { content } = await mcp.elicitation.sendRequest({ message: 'Which size?', requestedSchema });
          return `A ${String(content?.['size'])} one`;
        },
      }),
      ...tools,
    },
    resources: {
      listResources: async () => [{ uri: 'note://a', name: 'A' }],
      getResourceContent: async () => ({ text: 'Note' }),
    },
  });
  onTestFinished(() => server.close());
  return server;
}

const newFile = (): string => join(scratchFolder(), 'cassette.json');

/** Opens a cassette and a client of it, to the end of the test. */
async function open(options: CassetteOptions, answers = {}): Promise<{ cassette: Cassette; client: TestClient }> {
  const cassette = createCassette(options);
  const client = await createTestClient(cassette, { answers });
  onTestFinished(async () => {
    await client.close();
    await cassette.close();
  });
  return { cassette, client };
}

/** Records calls of a server, and returns a client of the recording. */
async function record(
  server: ServerDefinition,
  use: (client: TestClient) => Promise<unknown>,
  answers = {},
): Promise<{ file: string; client: TestClient }> {
  const file = newFile();
  const { client, cassette } = await open({ file, server, mode: 'record' }, answers);
  await use(client);
  await client.close();
  await cassette.close();
  return { file, client: (await open({ file }, answers)).client };
}

describe('a cassette', () => {
  it('replays a published server without starting it', async () => {
    const use = async ({ mcp, ...client }: TestClient): Promise<unknown> => ({
      tools: await client.tools(),
      sum: await client.call('get-sum', { a: 2, b: 3 }),
      failure: await client.call('get-sum', { a: 'x' }),
      echo: await client.call('echo', { message: 'Hello' }),
      resources: await mcp.resources.list(),
      prompts: await mcp.prompts.list(),
      prompt: await mcp.prompts.get({ serverName: 'server', name: 'simple-prompt' }),
      instructions: await mcp.getServerInstructions(),
    });
    let recorded: unknown;
    const answers = { elicitation: { action: 'decline' } };
    const keep = async (recording: TestClient): Promise<void> => {
      recorded = await use(recording);
    };
    const { client, file } = await record(everything, keep, answers);
    expect(await use(client)).toEqual(recorded);
    expect(client.mcp.status()['server']?.serverInfo?.name).toContain('everything');
    // Its list of tools depends on the capabilities of the client.
    await createCassette({ file, server: everything }).verify();
  });

  it('finds a call by its arguments in any order, and replays several answers in order', async () => {
    const { client } = await record(createWeather(), async (recording) => {
      calls = 0;
      await recording.call('forecast', { city: 'Oslo', days: 1 });
      await recording.call('forecast', { days: 1, city: 'Oslo' });
      await recording.call('forecast', { city: 'Rome' });
    });
    calls = 100;
    const callOf = async (args: object): Promise<unknown> => {
      const { result } = await client.call('forecast', { ...args });
      const content = result?.structuredContent as { call: number } | undefined;
      return content?.call;
    };
    expect(await callOf({ days: 1, city: 'Oslo' })).toBe(1);
    expect(await callOf({ city: 'Rome' })).toBe(3);
    expect(await callOf({ city: 'Oslo', days: 1 })).toBe(2);
    expect(await callOf({ city: 'Oslo', days: 1 })).toBe(2);
    expect(calls).toBe(100);
  });

  it('names the call that was not recorded, and similar ones', async () => {
    const { client } = await record(createWeather(), (recording) => recording.call('forecast', { city: 'Oslo' }));
    await expect(client.call('forecast', { city: 'Bergen' })).toFailWith(
      /has no answer to tools\/call \{"name":"forecast","arguments":\{"city":"Bergen"\}\}, but to \{"name":"forecast","arguments":\{"city":"Oslo"\}\}\. Record it again/,
    );
    await expect(client.call('order')).toFailWith('none of this method and name');
  });

  it('replays errors of tools and of the protocol', async () => {
    const { client } = await record(createWeather(), async (recording) => {
      await recording.call('forecast', { city: 'Atlantis' });
      await recording.call('nothing');
    });
    await expect(client.call('forecast', { city: 'Atlantis' })).toFailWith('Atlantis has no weather');
    await expect(client.call('nothing')).toFailWith('nothing');
    await expect(client.call('nothing')).not.toFailWith('has no answer');
  });

  it('passes the requests of the server to the client, and repeats them', async () => {
    const answers = { elicitation: { action: 'accept', content: { size: 'large' } } };
    for (const protocol of ['legacy', 'modern'] as const) {
      const server = { server: createWeather(), protocol };
      const { client } = await record(server, (recording) => recording.call('order'), answers);
      calls = 0;
      const call = await client.call('order');
      await expect(call).toReturnResult('A large one');
      await expect(call).toAsk('elicitation', 'Which size?');
      expect(calls).toBe(0);
    }
  });

  it('writes the same file for the same requests in another order', async () => {
    const use = async (client: TestClient, cities: string[]): Promise<void> => {
      for (const city of cities) await client.call('forecast', { city });
    };
    const texts: string[] = [];
    for (const cities of [
      ['Atlantis', 'Bergen'],
      ['Bergen', 'Atlantis'],
    ]) {
      calls = 0;
      const { file } = await record(createWeather(), (client) => use(client, cities));
      texts.push(readFileSync(file, 'utf8').replaceAll(/"call": \d|call\\":\d/g, ''));
    }
    expect(texts[0]).toBe(texts[1]);
  });

  it('keeps secrets out of the file, and finds the calls that contain them', async () => {
    const file = newFile();
    const server = {
      server: createWeather({
        echo: createTool({
          id: 'echo',
          description: 'Echo',
          inputSchema: z.object({ text: z.string() }),
          execute: async ({ text }) => ({ text, customer: { number: 'C-778899' }, nextPageToken: 'page-2' }),
        }),
      }),
    };
    const url = await server.server.listen();
    const headers = { 'x-api-key': 'key-0123456789', 'x-language': 'application' };
    const definition = { url: url.url, headers, requestInit: { headers: { authorization: 'Bearer abcdefghijkl' } } };
    const { client } = await open({ file, server: definition, mode: 'record', secrets: ['Number'] });
    await client.call('forecast', { city: 'Oslo', apiKey: 'key-of-the-user' });
    await client.call('echo', { text: 'This application sent Bearer abcdefghijkl and key-0123456789' });
    const text = readFileSync(file, 'utf8');
    for (const secret of ['secret-of-the-server', 'key-of-the-user', 'C-778899', 'abcdefghijkl', 'key-0123456789'])
      expect(text).not.toContain(secret);
    expect(text).toContain('page-2');
    expect(text).toContain('application');
    const { client: replaying } = await open({ file });
    const call = await replaying.call('forecast', { city: 'Oslo', apiKey: 'another key' });
    await expect(call).toReturnResult(expect.objectContaining({ accessToken: '[secret]' }));
    await url.close();
  });

  it.each<[definition: object, secrets: string[]]>([
    [
      { url: 'https://user-1:pass%2Bword@host.example/mcp?api_key=query-1&key=query-2&page=second-page' },
      ['pass+word', 'query-1', 'query-2'],
    ],
    [{ url: new URL('https://token-1@host.example/mcp') }, ['token-1']],
    [
      {
        command: 'npx',
        args: ['server', '--api-key=value-1', '--db-password', 'value-2', '--header', 'Authorization: Bearer value-3'],
        env: { DATABASE: 'postgres://user-1:value-4@127.0.0.1/orders' },
      },
      ['value-1', 'value-2', 'value-3', 'value-4'],
    ],
  ])('knows the secrets of %j', (definition, secrets) => {
    const cut = createSecretCutter(definition as MastraMCPServerDefinition, []);
    const kept = ['user-1', 'second-page', 'server', 'npx', 'orders'];
    expect(cut([...secrets, ...kept])).toEqual([...secrets.map(() => '[token]'), ...kept]);
    const members = { pwd: 1234, dbPass: 'x', passport: 'x', compass: 'x' };
    expect(cut(members)).toEqual({ ...members, pwd: '[secret]', dbPass: '[secret]' });
  });

  it('fails with the difference when definitions have changed', async () => {
    const { file } = await record(createWeather(), async ({ mcp, tools }) => [
      await tools(),
      await mcp.resources.list(),
    ]);
    const same = createCassette({ file, server: createWeather() });
    await expect(same.verify()).resolves.toBeUndefined();
    const forecast = createTool({
      id: 'forecast',
      description: 'Forecast of a town',
      inputSchema: z.object({ city: z.number() }),
      execute: async () => 1,
    });
    const alerts = createTool({ id: 'alerts', description: 'Alerts', execute: async () => 1 });
    calls = 0;
    const changed = createCassette({ file, server: createWeather({ forecast, alerts }) });
    const error = await changed.verify().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'CASSETTE_OUTDATED' });
    const { message } = error as Error;
    expect(message).toContain(
      `tools/list/tools/forecast/description was "Forecast of a city", and is "Forecast of a town"`,
    );
    expect(message).toContain(
      'tools/list/tools/forecast/inputSchema/properties/city/type was "string", and is "number"',
    );
    expect(message).toContain('tools/list/tools/forecast/inputSchema/properties/days was removed');
    expect(message).toMatch(/tools\/list\/tools\/alerts was added: \{"name":"alerts"/);
    expect(calls).toBe(0);
  });

  it('verifies definitions that no client has requested, and replays them', async () => {
    const { file, client } = await record(createWeather(), (recording) => recording.call('forecast', { city: 'Oslo' }));
    expect((await client.tools()).map(({ name }) => name)).toEqual(['forecast', 'order']);
    await expect(createCassette({ file, server: createWeather() }).verify()).resolves.toBeUndefined();
    const alerts = createTool({ id: 'alerts', description: 'Alerts', execute: async () => 1 });
    const changed = createCassette({ file, server: createWeather({ alerts }) }).verify();
    await expect(changed).rejects.toMatchObject({
      details: { changes: [expect.stringMatching(/^tools\/list.*alerts/)] },
    });
    const bare = new MCPServer({ name: 'Bare', version: '1.0.0', tools: {} });
    onTestFinished(() => bare.close());
    const without = createCassette({ file, server: bare }).verify();
    await expect(without).rejects.toThrow(/resources\/list was removed/);
    await expect(without).rejects.toMatchObject({ code: 'CASSETTE_OUTDATED' });
    const stopped = await createWeather().listen();
    await stopped.close();
    const unreachable = createCassette({ file, server: { url: stopped.url } }).verify();
    await expect(unreachable).rejects.toMatchObject({ code: 'MCP_CLIENT_CONNECT_FAILED' });
    const { definitions: _, ...old } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify(old));
    const empty = createCassette({ file, server: createWeather() }).verify();
    await expect(empty).rejects.toThrow(/contains no definitions to compare/);
  });

  it('ends the process of the server with its client', async () => {
    const server = { command: process.execPath, args: ['-e', program] };
    const { client } = await open({ file: newFile(), server, mode: 'record' });
    await client.mcp.reconnectServer('server');
    const pid = Number(client.mcp.status()['server']?.serverInfo?.version);
    expect(isAlive(pid)).toBe(true);
    await client.close();
    await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false);
  });

  it('rejects files that are missing, broken or of another kind', async () => {
    const file = newFile();
    const message = (part: string): object =>
      expect.objectContaining({ code: 'CASSETTE_INVALID', message: expect.stringContaining(part) });
    expect(() => createCassette({ file })).toThrow(message("Record it with mode 'record'"));
    for (const text of [
      '{',
      '[]',
      '{"version":2,"server":{},"requests":[]}',
      '{"version":1,"server":{},"requests":[1]}',
    ]) {
      writeFileSync(file, text);
      expect(() => createCassette({ file })).toThrow(message(file));
    }
    expect(() => createCassette({ file, mode: 'record' })).toThrow(/needs `server`/);
    expect(() => createCassette({} as CassetteOptions)).toThrow(/needs 'file'/);
    writeFileSync(file, '{"version":1,"server":{},"requests":[]}');
    await expect(createCassette({ file }).verify()).rejects.toThrow(/needs `server`/);
  });

  it('reports a server that cannot be reached, and records nothing', async () => {
    const file = newFile();
    const { client } = await open({ file, server: { command: process.execPath, args: ['-e', ''] }, mode: 'record' });
    await expect(client.call('forecast')).toFailWith('Could not connect');
    expect(() => readFileSync(file)).toThrow('ENOENT');
  });
});

/** A server whose version is its process id. It ends only when it is stopped. */
const program = `
setInterval(() => {}, 1000);
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  const serverInfo = { name: 'it', version: String(process.pid) };
  const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo };
  if (method === 'initialize') console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});`;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
