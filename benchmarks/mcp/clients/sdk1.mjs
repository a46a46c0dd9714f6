import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export async function connect(urls) {
  const opened = await Promise.all(
    urls.map(async (url) => {
      const client = new Client({ name: 'bench', version: '1.0.0' });
      await client.connect(new StreamableHTTPClientTransport(new URL(url)));
      const { tools } = await client.listTools();
      return { client, tools };
    }),
  );
  // Apart from their tools, which can then be dropped.
  const clients = opened.map(({ client }) => client);
  const [client] = clients;
  return {
    tools: opened.flatMap(({ tools }) => tools),
    call: async (message) => (await client.callTool({ name: 'echo', arguments: { message } })).content[0].text,
    close: () => Promise.all(clients.map((one) => one.close())),
  };
}
