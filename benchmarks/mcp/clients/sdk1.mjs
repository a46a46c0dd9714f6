import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { stdioServer } from './stdio-server.mjs';

const variants = {
  bearer: () => ({ authProvider: tokenProvider }),
  fetch: () => ({ fetch: (to, init) => fetch(to, init) }),
};
const tokenProvider = {
  redirectUrl: undefined,
  clientMetadata: { redirect_uris: [] },
  clientInformation: () => ({ client_id: 'bench' }),
  tokens: () => ({ access_token: 'a-token', token_type: 'Bearer' }),
  saveTokens() {},
  redirectToAuthorization() {},
  saveCodeVerifier() {},
  codeVerifier: () => '',
};

/** Transports of variants that are not Streamable HTTP. */
const transports = {
  stdio: async () => {
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    return () => new StdioClientTransport(stdioServer);
  },
  'http-sse': async () => {
    const { SSEClientTransport } = await import('@modelcontextprotocol/sdk/client/sse.js');
    return (url) => new SSEClientTransport(new URL(url));
  },
};

/** @param variant - the connection to the server: `bearer`, `fetch`, `http-sse` or `stdio` */
export async function connect(urls, era, variant) {
  const createTransport =
    (await transports[variant]?.()) ??
    ((url) => new StreamableHTTPClientTransport(new URL(url), variants[variant]?.()));
  const opened = await Promise.all(
    urls.map(async (url) => {
      const client = new Client({ name: 'bench', version: '1.0.0' });
      await client.connect(createTransport(url));
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
