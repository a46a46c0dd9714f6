import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export async function connect(urls, era) {
  const versionNegotiation = { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' };
  const opened = await Promise.all(
    urls.map(async (url) => {
      const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation });
      await client.connect(new StreamableHTTPClientTransport(new URL(url)));
      const { tools } = await client.listTools();
      return { client, tools };
    }),
  );
  // The clients without their tools, so that the tools can be collected.
  const clients = opened.map(({ client }) => client);
  const [client] = clients;
  return {
    tools: opened.flatMap(({ tools }) => tools),
    call: async (message) => (await client.callTool({ name: 'echo', arguments: { message } })).content[0].text,
    close: () => Promise.all(clients.map((one) => one.close())),
  };
}
