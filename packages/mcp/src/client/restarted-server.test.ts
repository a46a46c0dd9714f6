import { describe, expect, onTestFinished, test } from 'vitest';
import { MCPServer } from '../server/mcp-server.js';
import type { MCPClient } from './mcp-client.js';
import { toolOf } from '../../test/servers/tool-of.ts';
import { clientOf } from '../../test/clients/client-of.ts';

const key = 'k'.repeat(32);
const ask = toolOf(
  'ask',
  async (_input, { mcp }) =>
    (await mcp.elicitation.sendRequest({ message: 'Go?', requestedSchema: { type: 'object', properties: {} } })).action,
);
const echo = toolOf('echo', async () => 'echo');

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

async function start(port = 0): Promise<{ port: number; url: string; stop: () => Promise<void> }> {
  const server = new MCPServer({ name: 'S', version: '1', tools: { ask, echo }, requestState: { key } });
  const stop = async (): Promise<void> => {
    await server.close({ grace: 0 });
    // The client notices the end of its open connections.
    await pause();
  };
  onTestFinished(stop);
  return { ...(await server.listen({ port })), stop };
}

describe.each(['legacy', 'modern'] as const)('a server that restarts on its port, in the %s era', (protocol) => {
  const connect = (url: string, options: object): MCPClient => clientOf({ s: { url, protocol, ...options } });

  test('receives the calls that it refused', async () => {
    const first = await start();
    const mcp = connect(first.url, { connectTimeout: 30_000 });
    await mcp.listTools();
    await first.stop();
    const call = mcp.callTool({ serverName: 's', name: 'echo' });
    await pause();
    await start(first.port);
    expect((await call).content).toMatchObject([{ text: 'echo' }]);
  });

  test('is named when it stays away, without a warning about effects', async () => {
    const first = await start();
    const mcp = connect(first.url, { connectTimeout: 100 });
    await mcp.listTools();
    await first.stop();
    const error = await mcp.callTool({ serverName: 's', name: 'echo' }).catch((reason: Error) => reason);
    expect(error).toMatchObject({
      details: { reason: 'MCP_CLIENT_CONNECT_FAILED' },
      message: expect.stringMatching(/refused the connection: .*ECONNREFUSED.* Nothing was sent/),
    });
  });
});

test('a server that restarts while a user is asked receives the response', async () => {
  const first = await start();
  const mcp = clientOf({ s: { url: first.url, protocol: 'modern', connectTimeout: 30_000 } });
  let asked = 0;
  const onElicitation = async (): Promise<{ action: 'accept'; content: object }> => {
    asked += 1;
    await first.stop();
    setTimeout(() => void start(first.port), 50);
    return { action: 'accept', content: {} };
  };
  expect((await mcp.callTool({ serverName: 's', name: 'ask', onElicitation })).content).toMatchObject([
    { text: 'accept' },
  ]);
  expect(asked).toBe(1);
});
