import type { ServerResponse } from 'node:http';
import process from 'node:process';
import { Server } from '@modelcontextprotocol/server';
import { describe, expect, onTestFinished, test } from 'vitest';
import { serveHttp } from '../../../test/after-test.ts';
import { event, initialized, plain, result, startScripted, stream } from '../../../test/servers/scripted-server.ts';
import { createRemoteServer } from '../../../test/clients/remote-server.ts';
import type { MastraMCPServerDefinition } from '../config/server-definition.js';

async function connectTo(definition: MastraMCPServerDefinition, timeout = 20_000): Promise<string> {
  const server = createRemoteServer(definition, timeout);
  onTestFinished(() => server.disconnect());
  return server.connection.connect().then(
    () => 'connected',
    (error: Error) => error.message,
  );
}

describe('the error of a failed connection', () => {
  test('names the address of a server that is down, and what to check', async () => {
    const { http: server, port } = await serveHttp();
    await new Promise((resolve) => server.close(resolve));
    expect(await connectTo({ url: `http://127.0.0.1:${port}/mcp` })).toBe(
      `Could not connect to MCP server 'it' (http://127.0.0.1:${port}/mcp): connect ECONNREFUSED 127.0.0.1:${port}. Check that the server runs, and that \`url\` is right.`,
    );
  });

  test('names a program that does not exist, and what to check', async () => {
    expect(await connectTo({ command: 'nonesuch-cmd' })).toBe(
      "Could not connect to MCP server 'it' (nonesuch-cmd): The program 'nonesuch-cmd' could not be started: spawn nonesuch-cmd ENOENT. Check `command`, `cwd` and PATH.",
    );
  });

  test('recommends a provider to a client without one', async () => {
    const { url } = await startScripted({ 'server/discover': plain(401, 'who?') });
    expect(await connectTo({ url })).toMatch(/HTTP 401: who\? .* or `authProvider` in its definition, or send a token/);
    expect(await connectTo({ url, headers: { authorization: 'Bearer old' } })).toMatch(
      /who\? The server rejected the request with its `headers`: check/,
    );
  });
});

describe('the time to connect', () => {
  /** A server over stdio that starts after a pause. */
  const late = `setTimeout(() => require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'm', version: '1' } };
    if (method === 'initialize') console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  }), 1000)`;

  test('of a process is not bounded by the timeout of requests', async () => {
    expect(await connectTo({ command: process.execPath, args: ['-e', late] }, 500)).toBe('connected');
  });

  test('of a process is bounded by connectTimeout', async () => {
    const definition = { command: process.execPath, args: ['-e', late], connectTimeout: 200 };
    expect(await connectTo(definition)).toContain('no response within 200 ms; raise `connectTimeout`');
  });

  test('of a server in this process is longer than over HTTP', async () => {
    const server = new Server({ name: 'slow', version: '1' }, { capabilities: {} });
    const connect = server.connect.bind(server);
    server.connect = async (transport) => {
      await new Promise((resolve) => setTimeout(resolve, 3200));
      await connect(transport);
    };
    expect(await connectTo({ server })).toBe('connected');
  });
});

test('a legacy process that ends at server/discover is started again for the handshake', async () => {
  const script = `require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'm', version: '1' } };
    if (method === 'server/discover') process.exit(1);
    if (method === 'initialize') console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  })`;
  expect(await connectTo({ command: process.execPath, args: ['-e', script], protocol: 'auto' })).toBe('connected');
});

describe('an attempt that ends before the connection is open leaves no process', () => {
  const silent = { command: process.execPath, args: ['-e', 'process.stdin.resume()'], protocol: 'auto' as const };

  const countProcesses = (): number => process.getActiveResourcesInfo().filter((type) => type === 'ProcessWrap').length;
  // Other test files of this process may have left some.
  const before = countProcesses();

  async function expectNoProcess(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 200));
    await expect.poll(countProcesses).toBeLessThanOrEqual(before);
  }

  test('after connectTimeout', async () => {
    expect(await connectTo({ ...silent, connectTimeout: 200 })).toContain('no response within 200 ms');
    await expectNoProcess();
  });

  test.each([0, 100])('after disconnect() %i ms later', async (pause) => {
    const server = createRemoteServer(silent, 20_000);
    const connecting = server.connection.connect().catch((error: Error) => error.message);
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    await server.disconnect();
    expect(await connecting).toContain('the client was disconnected');
    await expectNoProcess();
  });
});

describe('the standalone stream of a session', () => {
  const names = async (capabilities: object, definition: Partial<MastraMCPServerDefinition> = {}) => {
    const { url, heard } = await startScripted({ initialize: result({ ...initialized, capabilities }) });
    const server = createRemoteServer({ url, ...definition } as MastraMCPServerDefinition, 20_000);
    onTestFinished(() => server.disconnect());
    await server.list('tools/list').get();
    await server.request((engine) => engine.request('tools/list', {}));
    return heard.map(({ name }) => name);
  };

  test.each<[string, object, Partial<MastraMCPServerDefinition>?]>([
    ['changes of lists', { tools: { listChanged: true } }],
    ['changes of resources', { tools: {}, resources: { subscribe: true } }],
    ['log messages', { tools: {}, logging: {} }],
    ['messages of its extensions', { tools: {}, experimental: { own: {} } }],
    ['requests that the client declares', { tools: {} }, { roots: [{ uri: 'file:///work' }] }],
  ])('is opened with the connection to a server with %s', async (_title, capabilities, definition) => {
    expect(await names(capabilities, definition)).toContain('GET');
  });

  test('is not opened for the lists of a server that only responds', async () => {
    const sent = await names({ tools: { listChanged: false }, prompts: {}, completions: {}, experimental: {} });
    expect(sent).not.toContain('GET');
    expect(sent.filter((name) => name === 'tools/list')).toHaveLength(2);
  });

  test('is opened before the first call of such a server, for its progress', async () => {
    const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'p', progress: 1 } };
    let onOpen: (response: ServerResponse) => void = () => {};
    const opened = new Promise<ServerResponse>((resolve) => (onOpen = resolve));
    let onProgress: (update: object) => void = () => {};
    const reported = new Promise<object>((resolve) => (onProgress = resolve));
    const { url, heard } = await startScripted({
      initialize: result({ ...initialized, capabilities: { tools: {} } }),
      GET: stream((response) => onOpen(response)),
      'tools/call': async (response, message, request) => {
        (await opened).write(event(progress));
        await reported;
        result({ content: [] })(response, message, request);
      },
    });
    const server = createRemoteServer({ url }, 20_000);
    onTestFinished(() => server.disconnect());
    await server.list('tools/list').get();
    expect(heard.map(({ name }) => name)).not.toContain('GET');
    const call = { name: 'go', arguments: {} };
    const options = { progressToken: 'p', onProgress };
    await server.request((engine) => engine.request('tools/call', call, options));
    expect(await reported).toMatchObject({ progress: 1 });
    await server.request((engine) => engine.request('tools/call', call));
    expect(heard.map(({ name }) => name).filter((name) => name === 'GET')).toHaveLength(1);
  });
});
