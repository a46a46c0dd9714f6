import { inspect } from 'node:util';
import { createLogger, isQuiverError, type QuiverError } from '@quiver/core';
import { Server } from '@modelcontextprotocol/server';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { MCPServer } from '../server/mcp-server.js';
import type { ToolCallProcessor } from './config/tool-options.js';
import { eras } from '../../test/eras.ts';
import { toolOf } from '../../test/servers/tool-of.ts';
import { clientOf } from '../../test/clients/client-of.ts';
import { captureLog } from '../../test/capture-log.ts';

const server = new MCPServer({
  name: 'Example',
  version: '1',
  tools: {
    complete: toolOf('complete', async (_input, { mcp }) => {
      const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Capital?' } }];
      return (await mcp.sample({ messages, maxTokens: 10 })).text;
    }),
  },
});
afterAll(() => server.close());

/** A child process that runs this JavaScript. */
const child = (script: string): { command: string; args: string[] } => ({
  command: process.execPath,
  args: ['-e', script],
});

/** A server that responds to the handshake and the list, and to no call. */
const silent = child(`
  const results = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
    'tools/list': { tools: [{ name: 'go', inputSchema: { type: 'object' } }] },
  };
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    if (results[method]) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }));
  });`);

test('skips a server that does not respond by a processor of calls, as the guide suggests', async () => {
  const sent: number[] = [];
  let timeouts = 0;
  const processToolCall: ToolCallProcessor = async (_call, next) => {
    if (timeouts >= 2) throw new Error('it does not respond');
    sent.push(timeouts);
    try {
      return await next();
    } catch (error) {
      if (isQuiverError(error, 'MCP_REQUEST_TIMEOUT')) timeouts += 1;
      throw error;
    }
  };
  const { it_go: go } = await clientOf({ it: { ...silent, timeout: 500, processToolCall } }).listTools();
  for (let time = 0; time < 2; time += 1)
    await expect(go?.execute({})).rejects.toMatchObject({ code: 'MCP_REQUEST_TIMEOUT' });
  await expect(go?.execute({})).rejects.toThrow('it does not respond');
  expect(sent).toEqual([0, 1]);
});

describe('a failed server', () => {
  const crashing = child('throw new Error("no key")');
  const message =
    /^Could not connect to MCP server 'bad' .*: its process exited with code 1\. It wrote: Error: no key\.$/;

  test('is logged once, until it has recovered', async () => {
    const lines = captureLog('error');
    const mcp = clientOf({ it: server, bad: crashing });
    await mcp.listTools();
    await mcp.listToolsets();
    await mcp.resources.list();
    await mcp.prompts.list();
    await mcp.getServerInstructions();
    await mcp.listTools();
    expect(lines).toEqual([
      expect.stringMatching(/^Tools are missing\. Could not connect to MCP server 'bad' .* no key\.$/),
    ]);
  });

  test('is logged again when it fails again', async () => {
    const lines = captureLog('error');
    let isDown = true;
    const sdk = new Server({ name: 'unstable', version: '1' }, { capabilities: { tools: {} } });
    sdk.setRequestHandler('tools/list', async () => {
      if (isDown) throw new Error('database down');
      return { tools: [] };
    });
    const mcp = clientOf({ it: server, bad: { server: sdk, protocol: 'legacy', cache: false } });
    for (isDown of [true, true, false, true]) await mcp.listTools();
    const line = "Tools are missing. MCP server 'bad' reported an error: database down";
    expect(lines).toEqual([line, line]);
  });

  test('is reported to its own logger only', async () => {
    const lines = captureLog('error');
    const logged: string[] = [];
    const log = ({ level, message: text }: { level: string; message: string }): void =>
      void (level === 'error' && logged.push(text));
    const mcp = clientOf({ it: server, bad: { ...crashing, log } });
    await mcp.listTools();
    await mcp.resources.list();
    expect(lines).toEqual([]);
    // A further attempt to connect is a further line.
    for (const line of logged) expect(line).toMatch(/^\[bad\] Could not connect to MCP server 'bad' .* no key\.$/);
    expect(logged.length).toBeGreaterThan(0);
  });

  test('is one message in the error of a client without another server', async () => {
    const lines = captureLog('error');
    const mcp = clientOf({ bad: crashing });
    const error: unknown = await mcp.listTools().catch((thrown: unknown) => thrown);
    expect(inspect(error).match(/no key/g)).toHaveLength(1);
    expect(error).toMatchObject({
      code: 'MCP_CLIENT_GET_TOOLS_FAILED',
      details: { reasons: { bad: 'MCP_CLIENT_CONNECT_FAILED' } },
    });
    expect((error as Error).message.replace('Could not list the tools of any MCP server. ', '')).toMatch(message);
    const failed: unknown = await mcp.callTool({ serverName: 'bad', name: 'go' }).catch((thrown: unknown) => thrown);
    expect((failed as Error).message).toMatch(message);
    expect(failed).not.toHaveProperty('details.stderr');
    expect(lines).toEqual([]);
  });
});

test('an error says which side it comes from', async () => {
  const sdk = new Server({ name: 'broken', version: '1' }, { capabilities: { tools: {} } });
  sdk.setRequestHandler('tools/call', async () => {
    throw new TypeError('fetch failed');
  });
  const mcp = clientOf({
    broken: { server: sdk, protocol: 'legacy' },
    asking: { server, protocol: 'modern' },
    down: { url: 'http://127.0.0.1:9/mcp' },
  });
  const failureOf = async (serverName: string): Promise<unknown> => {
    // The request of the application to its own model fails.
    const onSampling = () => Promise.reject(new TypeError('fetch failed'));
    const calling = mcp.callTool({ serverName, name: 'complete', onSampling });
    const error = await calling.catch((thrown: unknown) => thrown as QuiverError);
    return isQuiverError(error) && [error.details?.['reason'], error.message];
  };
  expect(await failureOf('broken')).toEqual([
    'MCP_REQUEST_FAILED',
    "MCP server 'broken' reported an error: fetch failed",
  ]);
  expect(await failureOf('asking')).toEqual([
    'MCP_REQUEST_FAILED',
    "The client could not provide the input that MCP server 'asking' requires: sampling/createMessage: fetch failed",
  ]);
  expect(await failureOf('down')).toEqual([
    'MCP_CLIENT_CONNECT_FAILED',
    expect.stringMatching(/^Could not connect to MCP server 'down' .*ECONNREFUSED/),
  ]);
});

test.each(eras)('reports what onRequest of a %s server throws, and the server logs it', async (protocol) => {
  const lines: string[] = [];
  const logger = createLogger({ write: (line) => void lines.push(line) });
  const server = new MCPServer({ name: 'Refusing', version: '1', tools: {}, logger }).use({
    onRequest: async () => Promise.reject(new Error('license expired')),
  });
  onTestFinished(() => server.close());
  const { url } = await server.listen();
  const mcp = clientOf({ it: { url, protocol } });
  await expect(mcp.callTool({ serverName: 'it', name: 'x' })).rejects.toThrow(/: license expired\.$/);
  expect(lines.join()).toContain('warn: The request');
});
