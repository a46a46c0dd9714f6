// Copied into the temporary folder that @mastra/mcp is installed in.
import { MCPClient } from '@mastra/mcp';

export async function connect(urls) {
  const servers = Object.fromEntries(urls.map((url, index) => [`s${index}`, { url: new URL(url) }]));
  const mcp = new MCPClient({ id: String(Math.random()), servers });
  const tools = await mcp.listTools();
  const echo = tools['s0_echo'];
  return {
    tools: Object.values(tools),
    call: async (message) => {
      const result = await echo.execute({ message }, {});
      return (Array.isArray(result) ? result : result.content)[0].text;
    },
    close: () => mcp.disconnect(),
  };
}
