import { Server } from '@modelcontextprotocol/server';
import { expect, onTestFinished, test } from 'vitest';
import { MastraMCPClient, type MastraMCPClientOptions } from './mastra-mcp-client.js';

function createServer(): Server {
  const server = new Server({ name: 'raw', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', async () => ({ tools: [] }));
  return server;
}

async function connect(options: Omit<MastraMCPClientOptions, 'server'>, definition: object = {}): Promise<unknown> {
  const server = createServer();
  const client = new MastraMCPClient({ ...options, server: { ...definition, server, protocol: 'legacy' } as never });
  onTestFinished(() => client.disconnect());
  await client.connect();
  return server.getClientVersion();
}

test('sends its name and version to the server', async () => {
  expect(await connect({ name: 'acme', version: '2.1.0' })).toEqual({ name: 'acme', version: '2.1.0' });
  expect(await connect({ name: 'acme' })).toEqual({ name: 'acme', version: '1.0.0' });
});

test('sends the client of the server definition instead, if there is one', async () => {
  const clientInfo = { name: 'other', version: '3' };
  expect(await connect({ name: 'acme', version: '2.1.0' }, { clientInfo })).toEqual(clientInfo);
});

test('rejects a name or version that a server would refuse', () => {
  for (const options of [{ name: '' }, { name: 'acme', version: 2 }])
    expect(() => new MastraMCPClient({ ...options, server: { url: new URL('http://localhost:1') } } as never)).toThrow(
      expect.objectContaining({ code: 'OPTIONS_INVALID' }),
    );
});
