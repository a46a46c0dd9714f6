import { createTool } from '@quiver/core/tools';
import { expect, test } from 'vitest';
import { afterTest, serveHttp } from '../../test/after-test.ts';
import { clientOf } from '../../test/clients/client-of.ts';
import { MCPServer } from '../server/mcp-server.js';

/** Two servers with sessions in memory, which take turns. */
async function startTurns(): Promise<string> {
  const servers = ['a', 'b'].map((name) => {
    const whoAmI = createTool({ id: 'whoAmI', description: 'Returns the name', execute: async () => name });
    return new MCPServer({ name: 'turns', version: '1', tools: { whoAmI } });
  });
  let turn = 0;
  const { origin } = await serveHttp((req, res) => {
    const url = new URL(req.url ?? '', 'http://localhost');
    void servers[turn++ % 2]?.startHTTP({ url, httpPath: '/mcp', req, res });
  });
  afterTest(() => Promise.all(servers.map((server) => server.close({ grace: 0 }))));
  return `${origin}/mcp`;
}

test('reports that another process has the session, instead of the failure of another transport', async () => {
  const mcp = clientOf({ turns: { url: new URL(await startTurns()), protocol: 'legacy' } });
  await expect(mcp.listTools()).rejects.toThrow('HTTP 404: Session not found: it ended, or another process has it');
});
