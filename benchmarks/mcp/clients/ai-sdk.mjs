// Copied into the temporary folder that @ai-sdk/mcp is installed in.
import { createMCPClient } from '@ai-sdk/mcp';

export async function connect(urls) {
  const clients = await Promise.all(
    urls.map(async (url) => {
      const client = await createMCPClient({ transport: { type: 'http', url } });
      return { client, tools: await client.tools() };
    }),
  );
  const [{ tools }] = clients;
  const options = { toolCallId: 'call', messages: [] };
  return {
    tools: clients.reduce((sum, { tools: own }) => sum + Object.keys(own).length, 0),
    call: async (message) => (await tools.echo.execute({ message }, options)).content[0].text,
    close: () => Promise.all(clients.map(({ client }) => client.close())),
  };
}
