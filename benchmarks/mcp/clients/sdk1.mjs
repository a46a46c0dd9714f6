import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export async function connect(urls) {
  const clients = await Promise.all(
    urls.map(async (url) => {
      const client = new Client({ name: 'bench', version: '1.0.0' });
      await client.connect(new StreamableHTTPClientTransport(new URL(url)));
      const { tools } = await client.listTools();
      return { client, tools };
    }),
  );
  const [{ client }] = clients;
  return {
    tools: clients.reduce((sum, { tools }) => sum + tools.length, 0),
    call: async (message) => (await client.callTool({ name: 'echo', arguments: { message } })).content[0].text,
    close: () => Promise.all(clients.map(({ client: one }) => one.close())),
  };
}
