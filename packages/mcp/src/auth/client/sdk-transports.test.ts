// The provider in the official SDKs' own transports, which sign in by their own rules.
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { MCPOAuthClientProvider } from '@quiver/mcp/auth';
import { expect, it } from 'vitest';
import { startAuthorizationServer } from '../../../test/oauth/authorization-server.ts';
import { startProtectedServer } from '../../../test/oauth/protected-server.ts';

const redirectUrl = 'http://localhost:3999/callback';

/** A client of either SDK over a transport that receives the authorization response. */
interface Sdk {
  connect(): Promise<void>;
  finish(answer: URLSearchParams): Promise<void>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  close(): Promise<void>;
}

const sdks: Record<string, (url: URL, provider: MCPOAuthClientProvider) => () => Sdk> = {
  '2.4': (url, authProvider) => () => {
    const transport = new Transport2(url, { authProvider });
    const client = new Client2({ name: 'sdk', version: '2' });
    return {
      connect: () => client.connect(transport),
      finish: (answer) => transport.finishAuth(answer),
      listTools: () => client.listTools(),
      close: () => client.close(),
    };
  },
  '1.32': (url, authProvider) => () => {
    // Its types know nothing of what came later, and differ under exactOptionalPropertyTypes.
    const transport = new Transport1(url, { authProvider: authProvider as never });
    const client = new Client1({ name: 'sdk', version: '1' });
    return {
      connect: () => client.connect(transport as Parameters<Client1['connect']>[0]),
      finish: (answer) => transport.finishAuth(answer.get('code') ?? ''),
      listTools: () => client.listTools(),
      close: () => client.close(),
    };
  },
};

const cases = Object.entries(sdks).flatMap(([version, createSdk]) => [
  { version, createSdk, isBound: false },
  { version, createSdk, isBound: true },
]);

it.each(cases)('signs in to a server through SDK $version, bound to it: $isBound', async ({ createSdk, isBound }) => {
  const as = await startAuthorizationServer();
  const mcp = await startProtectedServer({
    authorizationServers: [as.issuer],
    validateToken: (token) => ({ valid: as.active.has(token), subject: 'ada' }),
  });
  const shown: URL[] = [];
  const provider = new MCPOAuthClientProvider({
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl] },
    onRedirectToAuthorization: (page) => void shown.push(page),
  });
  if (isBound) provider.bind(mcp.url);
  const create = createSdk(new URL(mcp.url), provider);
  const first = create();
  await expect(first.connect()).rejects.toThrow(/unauthorized/i);
  const answer = await fetch(String(shown[0]), { redirect: 'manual' });
  await first.finish(new URL(String(answer.headers.get('location'))).searchParams);
  const second = create();
  await second.connect();
  expect((await second.listTools()).tools.map(({ name }) => name)).toContain('whoami');
  await second.close();
  expect([shown.length, as.registrations.length]).toEqual([1, 1]);
});
