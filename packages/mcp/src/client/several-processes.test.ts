import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createTool } from '@quiver/core/tools';
import { expect, test } from 'vitest';
import { afterTest } from '../../test/after-test.ts';
import { clientOf } from '../../test/clients/client-of.ts';
import { MCPServer } from '../server/mcp-server.js';

/** Two servers with sessions in memory, which take turns. */
async function startTurns(): Promise<string> {
  const servers = ['a', 'b'].map((name) => {
    const whoAmI = createTool({ id: 'whoAmI', description: 'Returns the name', execute: async () => name });
    return new MCPServer({ name: 'turns', version: '1', tools: { whoAmI } });
  });
  let turn = 0;
  const http: Server = createServer((req, res) => {
    const url = new URL(req.url ?? '', 'http://localhost');
    void servers[turn++ % 2]?.startHTTP({ url, httpPath: '/mcp', req, res });
  }).listen(0, '127.0.0.1');
  afterTest(async () => {
    await Promise.all(servers.map((server) => server.close({ grace: 0 })));
    http.closeAllConnections();
    http.close();
  });
  await new Promise((resolve) => http.once('listening', resolve));
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}

test('reports that another process has the session, instead of the failure of another transport', async () => {
  const mcp = clientOf({ turns: { url: new URL(await startTurns()), protocol: 'legacy' } });
  await expect(mcp.listTools()).rejects.toThrow('HTTP 404: Session not found: it ended, or another process has it');
});
