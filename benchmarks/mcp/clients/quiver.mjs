import { MCPClient } from '@quiver/mcp/client';

export async function connect(urls, era, isDirect = false) {
  const servers = Object.fromEntries(urls.map((url, index) => [`s${index}`, { url, protocol: era }]));
  const mcp = new MCPClient({ id: String(Math.random()), servers });
  const tools = await mcp.listTools();
  const echo = tools['s0_echo'];
  const call = isDirect
    ? (message) => mcp.callTool({ serverName: 's0', name: 'echo', args: { message } })
    : (message) => echo.execute({ message });
  return {
    tools: Object.values(tools),
    call: async (message) => (await call(message)).content[0].text,
    close: () => mcp.disconnect(),
  };
}
