import type { Logger } from '@quiver/core';
import { createJwtValidator, createStaticTokenValidator, type TokenValidationResult } from '@quiver/mcp/auth';
import { describe, expect, it, vi } from 'vitest';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { afterTest } from '../../../test/after-test.ts';
import { mountServer } from '../../../test/servers/mount-server.ts';
import { initializeParams, modern, openSession, rpc, send, toRequest } from '../../../test/clients/wire.ts';
import { MCPServer } from '../mcp-server.js';
import type { ListenOptions } from './listen.js';

type Authenticate = ListenOptions['authenticate'];

const logged: string[] = [];
const log = (message: string): void => void logged.push(message);
const logger: Logger = { debug: log, info: log, warn: log, error: log };

function createServer(): MCPServer {
  const whoami = toolOf('whoami', async (_input, { requestContext, mcp }) => ({
    authInfo: mcp.extra?.authInfo,
    entries: Object.fromEntries([...requestContext.entries()].filter(([key]) => key !== 'mcp.extra')),
    extra: requestContext.get('mcp.extra') === mcp.extra,
  }));
  const server = new MCPServer({ name: 'Company', version: '1.0.0', tools: { whoami }, logger });
  afterTest(() => server.close());
  return server;
}

async function listen(authenticate: Authenticate, options: ListenOptions = {}): Promise<string> {
  const { url } = await createServer().listen({ authenticate, ...options });
  return url;
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

const whoami = (headers: Record<string, string>) => modern('tools/call', { name: 'whoami' }, 1, headers);

const callerIn = (answer: { json: { result: { structuredContent?: unknown; content: { text: string }[] } } }) =>
  JSON.parse(answer.json.result.content[0]!.text);

/** The caller that a tool sees, in the modern and in the legacy era. */
async function callersOf(url: string, headers: Record<string, string>): Promise<unknown[]> {
  const stateless = await send(url, whoami(headers));
  const session = await openSession(url, headers);
  const inSession = await send(url, {
    headers: { ...headers, ...session },
    body: rpc('tools/call', { name: 'whoami' }),
  });
  return [callerIn(stateless), callerIn(inSession)];
}

const staticTokens = createStaticTokenValidator([
  { token: 'ada-token', subject: 'ada', scopes: ['read'], claims: { tenant: 'acme' } },
]);

describe('authenticate as a function', () => {
  const users = new Map([
    ['ada-token', { userId: 'ada', tenant: 'acme', scopes: ['read'], scope: { tenant: 'acme' } }],
  ]);
  const authenticate: Authenticate = ({ token = '' }) => users.get(token);

  it('fills the identity and the request context of calls in both eras', async () => {
    const url = await listen(authenticate);
    const identity = { userId: 'ada', tenant: 'acme', scope: { tenant: 'acme' } };
    const expected = {
      authInfo: { scopes: ['read'], extra: { subject: 'ada', claims: identity } },
      entries: identity,
      extra: true,
    };
    expect(await callersOf(url, bearer('ada-token'))).toEqual([expected, expected]);
  });

  it('rejects a request without a token, and one with an unknown token, with 401 and their challenges', async () => {
    const url = await listen(authenticate);
    const body = rpc('initialize', initializeParams);
    const without = await send(url, { body });
    expect([without.status, without.headers['www-authenticate']]).toEqual([401, 'Bearer']);
    const unknown = await send(url, { body, headers: bearer('other') });
    expect(unknown.status).toBe(401);
    expect(unknown.headers['www-authenticate']).toMatch(/^Bearer error="invalid_token"/);
  });

  it('may identify the caller by another header, method and path', async () => {
    const seen: object[] = [];
    const url = await listen(({ headers, method, path, token }) => {
      seen.push({ method, path, token });
      return headers['x-api-key'] === 'key' && { userId: 7 };
    });
    const [caller] = await callersOf(url, { 'x-api-key': 'key' });
    expect(caller).toMatchObject({ authInfo: { extra: { subject: '7' } }, entries: { userId: 7 } });
    expect(seen[0]).toEqual({ method: 'POST', path: '/mcp', token: undefined });
    expect(await send(url, { body: rpc('ping') })).toMatchObject({ status: 401 });
  });

  it.each([
    ['throws', () => Promise.reject(new Error('down, for ada-token'))],
    ['returns no userId', () => ({ tenant: 'acme' })],
    ['returns an empty userId', () => ({ userId: '' })],
    ['returns a text', () => 'ada'],
    ['returns scopes in one text', () => ({ userId: 'ada', scopes: 'read' })],
    ['returns a half result', () => ({ valid: 'yes', userId: 'ada' })],
  ])('rejects every request when it %s, and logs no token', async (_what, broken) => {
    logged.length = 0;
    const url = await listen(broken as never);
    const answer = await send(url, { body: rpc('ping'), headers: bearer('ada-token') });
    expect(answer).toMatchObject({ status: 500, json: { error: 'server_error' } });
    expect(logged.join()).toMatch(/failed/);
    expect(logged.join()).not.toContain('ada-token');
  });

  it('must return a subject for a request without a token', async () => {
    const url = await listen(() => ({ valid: true }));
    expect(await send(url, { body: rpc('ping') })).toMatchObject({ status: 500 });
  });

  it('is called for every request, also when it passes on the result of a validator that may be cached', async () => {
    let isOpen = true;
    const url = await listen((request) => isOpen && staticTokens(request));
    const request = whoami(bearer('ada-token'));
    expect(await send(url, request)).toMatchObject({ status: 200 });
    isOpen = false;
    expect(await send(url, request)).toMatchObject({ status: 401 });
  });

  it('separates the sessions of its users', async () => {
    const url = await listen(({ token }) => token !== undefined && { userId: token });
    const session = await openSession(url, bearer('ada'));
    const body = rpc('ping');
    expect(await send(url, { body, headers: { ...bearer('ada'), ...session } })).toMatchObject({ status: 200 });
    expect(await send(url, { body, headers: { ...bearer('bob'), ...session } })).toMatchObject({ status: 404 });
  });
});

describe('authenticate as a validator of the package', () => {
  it('takes the place of the function, without an issuer', async () => {
    const url = await listen(staticTokens);
    const expected = {
      authInfo: { scopes: ['read'], extra: { subject: 'ada', claims: { tenant: 'acme' } } },
      entries: { tenant: 'acme' },
      extra: true,
    };
    expect(await callersOf(url, bearer('ada-token'))).toEqual([expected, expected]);
    expect(await send(url, { body: rpc('ping') })).toMatchObject({ status: 401 });
    expect(await send(url, { body: rpc('ping'), headers: bearer('other') })).toMatchObject({ status: 401 });
  });

  it('is refused at the start when it compares the audience and there is no resource', async () => {
    const issuer = { issuer: 'https://a.example', jwksUri: 'https://a.example/jwks' };
    await expect(listen(createJwtValidator(issuer))).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    await listen(createJwtValidator({ ...issuer, audience: 'https://mcp.example.com/mcp' }));
  });
});

describe('authenticate as OAuth options', () => {
  const oauth = {
    resource: 'https://mcp.example.com/mcp',
    authorizationServers: ['https://auth.example.com'],
    validateToken: staticTokens,
    toolScopes: { whoami: ['admin'] },
  };

  it('serve the metadata, which the challenge names, and check the scopes of tools', async () => {
    const url = await listen(oauth);
    const { headers } = await send(url, { body: rpc('ping') });
    const metadata = '/.well-known/oauth-protected-resource/mcp';
    expect(headers['www-authenticate']).toContain(`resource_metadata="https://mcp.example.com${metadata}"`);
    const found = await fetch(new URL(metadata, url));
    expect(await found.json()).toMatchObject({ resource: oauth.resource, scopes_supported: ['admin'] });
    const request = whoami(bearer('ada-token'));
    expect(await send(url, request)).toMatchObject({ status: 403, json: { error: 'insufficient_scope' } });
  });
});

describe('the paths', () => {
  it('are protected except for the health of the server, and others stay unknown', async () => {
    const url = await listen(staticTokens, { healthPath: '/health' });
    expect((await fetch(new URL('/health', url))).status).toBe(200);
    expect((await fetch(new URL('/favicon.ico', url))).status).toBe(404);
    for (const method of ['GET', 'POST', 'DELETE', 'PUT'])
      expect((await fetch(url, { method, headers: { 'content-type': 'application/json' } })).status).toBe(401);
  });

  it('do not reach the function from a host that is not allowed', async () => {
    const authenticate = vi.fn(() => ({ userId: 'ada' }));
    const url = await listen(authenticate);
    expect(await send(url, { body: rpc('ping'), headers: { host: 'evil.example' } })).toMatchObject({ status: 403 });
    expect(authenticate).not.toHaveBeenCalled();
  });
});

describe('the other entrances', () => {
  it('of a node:http server take the same option', async () => {
    const server = createServer();
    const validations: string[] = [];
    const authenticate = ({ token }: { token?: string }): TokenValidationResult => {
      validations.push(token ?? '');
      return token === 'ada' ? { valid: true, subject: token, requestContext: { tenant: 'acme' } } : { valid: false };
    };
    const url = await mountServer(server, { healthPath: '/health', authenticate });
    const [caller] = await callersOf(url, bearer('ada'));
    expect(caller).toMatchObject({ authInfo: { extra: { subject: 'ada' } }, entries: { tenant: 'acme' } });
    expect(await send(url, { body: rpc('ping') })).toMatchObject({ status: 401 });
    expect((await fetch(new URL('/health', url))).status).toBe(200);
  });

  it('of the web platform take it too', async () => {
    const server = createServer();
    const rejected = await server.fetch(toRequest(whoami({})), { authenticate: staticTokens });
    expect([rejected.status, rejected.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    const accepted = await server.fetch(toRequest(whoami(bearer('ada-token'))), { authenticate: staticTokens });
    expect(callerIn({ json: (await accepted.json()) as never })).toMatchObject({ entries: { tenant: 'acme' } });
  });
});
