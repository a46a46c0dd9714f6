import { expect, test } from 'vitest';
import { serveHttp } from '../../../test/after-test.ts';
import type { OAuthClientProvider } from '../../protocol/oauth-types.js';
import { startScripted } from '../../../test/servers/scripted-server.ts';
import { clientOf } from '../../../test/clients/client-of.ts';
import { HttpChannel } from './http-channel.js';
import { resolveHttpOptions } from './http-options.js';

async function startRedirecting(target: (port: number) => string, status = 307) {
  const seen: string[] = [];
  const { origin, port } = await serveHttp((request, response) => {
    seen.push(`${request.method} ${request.headers.host?.split(':')[0]}${request.url}`);
    if (request.url === '/other') response.end('{}');
    else response.writeHead(status, { location: target(port) }).end();
  });
  return { url: new URL(`${origin}/mcp`), seen };
}

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' } as const;

test.each([
  ['the same origin', () => '/other', 307, {}, 200, 2],
  ['a method that would change', () => '/other', 303, {}, 303, 1],
  ['another host', (port: number) => `http://localhost:${port}/other`, 307, {}, 307, 1],
  ['credentials', (port: number) => `http://user:secret@127.0.0.1:${port}/other`, 307, {}, 307, 1],
  ['a loop', () => '/mcp', 307, {}, 307, 6],
  ['redirect: manual', () => '/other', 307, { requestInit: { redirect: 'manual' } }, 307, 1],
] as const)('a redirect to %s', async (_, target, status, definition, expected, requests) => {
  const { url, seen } = await startRedirecting(target, status);
  for (const fetchOption of [{}, { fetch: (to: string | URL, init?: RequestInit) => fetch(to, init) }]) {
    seen.length = 0;
    const channel = new HttpChannel(await resolveHttpOptions({ url, ...definition, ...fetchOption }, url));
    // The server does not speak MCP: every response is an error with its status.
    await expect(channel.send(ping, {})).rejects.toMatchObject({ status: expected });
    expect(seen).toHaveLength(requests);
  }
});

test('credentials in the address are an error, not a request without them', async () => {
  const url = new URL('http://user:secret@127.0.0.1:1/mcp');
  const channel = new HttpChannel(await resolveHttpOptions({ url }, url));
  await expect(channel.send(ping, {})).rejects.toThrow('credentials');
});

test('headers of the definition accompany authorized requests', async () => {
  const { url, heard } = await startScripted({});
  const authProvider: OAuthClientProvider = {
    redirectUrl: undefined,
    clientMetadata: { redirect_uris: [] },
    clientInformation: () => undefined,
    tokens: () => ({ access_token: 'token', token_type: 'Bearer' }),
    saveTokens: () => {},
    redirectToAuthorization: () => {},
    saveCodeVerifier: () => {},
    codeVerifier: () => '',
  };
  const mcp = clientOf({ it: { url, protocol: 'legacy', authProvider, headers: { 'X-Own': 'yes' } } });
  await mcp.listTools();
  const headers = heard.map(({ name, headers: sent }) => [name, sent['x-own'], sent['authorization']]);
  expect(headers).toContainEqual(['initialize', 'yes', 'Bearer token']);
  expect(headers).toContainEqual(['tools/list', 'yes', 'Bearer token']);
});
