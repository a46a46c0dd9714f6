import { createSimpleTokenProvider } from '@quiver/mcp/auth';
import { MCPClient } from '@quiver/mcp/client';

/** @param variant - `direct` calls through `callTool`, `bearer` signs in with a token, `fetch` is a custom one */
export async function connect(urls, era, variant) {
  const settings = {
    bearer: () => ({ authProvider: tokenProvider() }),
    fetch: () => ({ fetch: (to, init) => fetch(to, init) }),
  };
  const ownSettings = settings[variant] ?? (() => ({}));
  const servers = Object.fromEntries(urls.map((url, index) => [`s${index}`, { url, protocol: era, ...ownSettings() }]));
  const mcp = new MCPClient({ id: String(Math.random()), servers });
  const tools = await mcp.listTools();
  const echo = tools['s0_echo'];
  const call =
    variant === 'direct'
      ? (message) => mcp.callTool({ serverName: 's0', name: 'echo', args: { message } })
      : (message) => echo.execute({ message });
  return {
    tools: Object.values(tools),
    call: async (message) => (await call(message)).content[0].text,
    close: () => mcp.disconnect(),
  };
}

function tokenProvider() {
  const redirectUrl = 'http://localhost:3000/callback';
  return createSimpleTokenProvider('a-token', { redirectUrl, clientMetadata: { redirect_uris: [redirectUrl] } });
}
