import { createSimpleTokenProvider } from '@quiver/mcp/auth';
import { MCPClient } from '@quiver/mcp/client';
import { stdioServer } from './stdio-server.mjs';

const variants = {
  bearer: () => ({ authProvider: tokenProvider() }),
  fetch: () => ({ fetch: (to, init) => fetch(to, init) }),
};

/** @param variant - `direct` calls tools through `callTool`; `bearer`, `fetch` and `stdio` select the connection to the server */
export async function connect(urls, era, variant) {
  const define = (url) => (variant === 'stdio' ? stdioServer : { url, protocol: era, ...variants[variant]?.() });
  const servers = Object.fromEntries(urls.map((url, index) => [`s${index}`, define(url)]));
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
