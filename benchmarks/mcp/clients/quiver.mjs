import { MCPClient } from '@quiver/mcp/client';
import { stdioServer } from './stdio-server.mjs';

const variants = {
  bearer: async () => ({ authProvider: await createTokenProvider() }),
  fetch: () => ({ fetch: (to, init) => fetch(to, init) }),
  'http-sse': () => ({ transport: 'sse' }),
};

/** @param variant - `direct` calls tools through `callTool`; `bearer`, `fetch`, `http-sse` and `stdio` select the connection to the server */
export async function connect(urls, era, variant) {
  const options = await variants[variant]?.();
  const define = (url) => (variant === 'stdio' ? stdioServer : { url, protocol: era, ...options });
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

async function createTokenProvider() {
  const { createSimpleTokenProvider } = await import('@quiver/mcp/auth');
  const redirectUrl = 'http://localhost:3000/callback';
  return createSimpleTokenProvider('a-token', { redirectUrl, clientMetadata: { redirect_uris: [redirectUrl] } });
}
