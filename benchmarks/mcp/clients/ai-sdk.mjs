// Copied into the temporary folder that @ai-sdk/mcp is installed in.
import { createMCPClient } from '@ai-sdk/mcp';

export async function connect(urls) {
  const opened = await Promise.all(
    urls.map(async (url) => {
      const client = await createMCPClient({ transport: { type: 'http', url } });
      return { client, tools: await client.tools() };
    }),
  );
  // The clients without their tools, so that the tools can be collected.
  const clients = opened.map(({ client }) => client);
  const { echo } = opened[0].tools;
  const options = { toolCallId: 'call', messages: [] };
  return {
    tools: opened.flatMap(({ tools }) => Object.values(tools)),
    call: async (message) => (await echo.execute({ message }, options)).content[0].text,
    close: () => Promise.all(clients.map((client) => client.close())),
  };
}
