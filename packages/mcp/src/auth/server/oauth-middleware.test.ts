import { request } from 'node:http';
import { createTool } from '@quiver/core/tools';
import { createStaticTokenValidator, createOAuthMiddleware } from '@quiver/mcp/auth';
import { MCPServer } from '@quiver/mcp/server';
import { describe, expect, it } from 'vitest';
import { errorOf } from '../../../test/error-of.ts';
import { afterTest, serveHttp } from '../../../test/after-test.ts';
import { startProtectedServer as start } from '../../../test/oauth/protected-server.ts';
import { initializeParams, modern, openSession, rpc, send, type WireAnswer } from '../../../test/clients/wire.ts';

const validateToken = createStaticTokenValidator([
  { token: 'good', subject: 'ada', scopes: ['mcp:read'] },
  { token: 'other', subject: 'bob', scopes: ['mcp:read', 'mcp:write'] },
]);

const initialize = rpc('initialize', initializeParams);

function call(url: string, headers: Record<string, string | string[]> = {}, path?: string): Promise<WireAnswer> {
  return send(url, { headers, body: initialize, ...(path !== undefined && { path }) });
}

/** Calls a tool in protocol version 2026-07-28. */
function callTool(url: string, token: string, name: string, params: object = {}): Promise<WireAnswer> {
  return send(url, modern('tools/call', { name, arguments: {}, ...params }, 1, bearer(token)));
}

const bearer = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` });

describe('the challenge', () => {
  it('names the metadata, and neither a scope that is not configured nor an error, when no token was sent', async () => {
    const { url, origin } = await start({ validateToken });
    const { status, headers, json } = await call(url);
    expect(status).toBe(401);
    expect(headers['www-authenticate']).toBe(
      `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`,
    );
    expect(json).toEqual({ error: 'unauthorized', error_description: 'Bearer token required' });
  });

  it('sends invalid_token for an unknown token', async () => {
    const { url } = await start({ validateToken });
    const { status, headers, json } = await call(url, bearer('unknown'));
    expect(status).toBe(401);
    expect(headers['www-authenticate']).toContain('error="invalid_token", error_description="Token not recognized"');
    expect(json).toMatchObject({ error: 'invalid_token' });
  });

  it.each<[string, Record<string, string>, number, string?]>([
    ['another scheme like no token', { authorization: 'Basic Z29vZDo=' }, 401],
    ['a scheme in lower case', { authorization: 'bearer good' }, 200],
    ['a scheme in upper case', { authorization: 'BEARER good' }, 200],
    ['a token in the query like no token', {}, 401, '/mcp?access_token=good'],
    ['a header beside a token in the query', bearer('good'), 400, '/mcp?access_token=other'],
    ['two tokens', { authorization: 'Bearer good other' }, 400],
    ['an empty one', { authorization: 'Bearer ' }, 400],
    ['a quoted one', { authorization: 'Bearer "good"' }, 400],
    ['a list', { authorization: 'Bearer good, Bearer good' }, 400],
  ])('reads %s', async (_what, given, expected, path) => {
    const { url } = await start({ validateToken });
    const { status, headers } = await call(url, given, path);
    expect(status).toBe(expected);
    const [, error] = /error="(\w+)"/.exec(String(headers['www-authenticate'])) ?? [];
    expect(error).toBe(expected === 400 ? 'invalid_request' : undefined);
  });

  it('rejects two Authorization headers with 400', async () => {
    const { url } = await start({ validateToken });
    const port = Number(new URL(url).port);
    const doubled = await new Promise<number | undefined>((resolve, reject) => {
      const req = request({ port, path: '/mcp', method: 'POST' }, (res) => {
        res.resume();
        resolve(res.statusCode);
      });
      req.setHeader('authorization', ['Bearer good', 'Bearer other']);
      req.on('error', reject);
      req.end('{}');
    });
    expect(doubled).toBe(400);
  });

  it('rejects an oversized token without calling the validator', async () => {
    let asked = 0;
    const { url } = await start({
      validateToken: () => {
        asked += 1;
        return { valid: true };
      },
    });
    expect(await call(url, bearer('a'.repeat(14 * 1024)))).toMatchObject({ status: 401 });
    expect(asked).toBe(0);
  });
});

describe('the metadata', () => {
  it.each(['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'])(
    'is served at %s for GET, HEAD and OPTIONS, without a token',
    async (path) => {
      const { url, origin } = await start({ validateToken, resourceName: 'Mine' });
      const got = await send(url, { method: 'GET', path });
      expect(got.status).toBe(200);
      expect(got.headers).toMatchObject({
        'content-type': 'application/json',
        'access-control-allow-origin': '*',
        'cache-control': 'max-age=3600',
      });
      expect(got.json).toEqual({
        resource: `${origin}/mcp`,
        authorization_servers: ['https://auth.example.com'],
        bearer_methods_supported: ['header'],
        resource_name: 'Mine',
      });
      const head = await send(url, { method: 'HEAD', path });
      expect([head.status, head.text, head.headers['content-length']]).toEqual([
        200,
        '',
        String(Buffer.byteLength(got.text)),
      ]);
      expect(await send(url, { method: 'OPTIONS', path })).toMatchObject({ status: 204 });
      const posted = await send(url, { path, body: {} });
      expect([posted.status, posted.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
    },
  );

  it('names the scopes that requests and tools need', async () => {
    const { url } = await start({ validateToken, requiredScopes: ['a'], toolScopes: { secret: ['b', 'a'] } });
    const { json } = await send(url, { method: 'GET', path: '/.well-known/oauth-protected-resource' });
    expect(json.scopes_supported).toEqual(['a', 'b']);
  });

  it('is found behind the URL of the challenge and names the configured resource', async () => {
    const { url } = await start({ validateToken });
    const challenge = (await call(url)).headers['www-authenticate'] as string;
    const metadataUrl = /resource_metadata="([^"]+)"/.exec(challenge)?.[1] as string;
    const metadata = (await (await fetch(metadataUrl)).json()) as { resource: string };
    expect(metadata.resource).toBe(url);
  });

  it('refuses a resource with a fragment, or one that is not a URL', () => {
    for (const resource of ['https://x.example/mcp#a', 'mcp', 'ftp://x.example/', '']) {
      expect(() =>
        createOAuthMiddleware({ oauth: { resource, authorizationServers: ['https://a.example'], validateToken } }),
      ).toThrow(errorOf('OPTIONS_INVALID'));
    }
  });
});

describe('the guarded paths', () => {
  it.each([
    '/mcp/',
    '//mcp',
    '/MCP',
    '/%6dcp',
    '/%256dcp',
    '/mcp;a',
    '/./mcp',
    '/x/../mcp',
    '/\\mcp',
    '/mcp%2f',
    '/%zz',
  ])('does not serve %s without a token', async (path) => {
    const { url } = await start({ validateToken });
    const { status } = await call(url, {}, path);
    expect([400, 401, 404]).toContain(status);
  });

  it.each(['/mcp/', '//mcp', '/MCP', '/%6dcp', '/x/../mcp'])(
    'guards /mcp when mcpPath spells it %s',
    async (mcpPath) => {
      const { url } = await start({ validateToken, resource: 'https://mcp.example.com/' }, { mcpPath });
      for (const path of ['/mcp', '/mcp/', '//mcp/']) {
        expect([path, (await call(url, {}, path)).status]).toEqual([path, 401]);
      }
    },
  );

  it('guards the path of the resource when mcpPath names another', async () => {
    const { url } = await start({ validateToken }, { mcpPath: '/elsewhere' });
    expect(await call(url)).toMatchObject({ status: 401 });
  });

  it.each(['/', '/sse', '/message?sessionId=1', '/health'])(
    "guards %s with mcpPath '/', as servers with several paths need, and leaves only the metadata open",
    async (path) => {
      const { url } = await start({ validateToken }, { mcpPath: '/' });
      expect(await send(url, { method: 'GET', path })).toMatchObject({ status: 401 });
      const metadata = await send(url, { method: 'GET', path: '/.well-known/oauth-protected-resource/mcp' });
      expect(metadata.status).toBe(200);
    },
  );

  it('lets other paths through untouched', async () => {
    const { url } = await start({ validateToken });
    const { status, headers } = await send(url, { method: 'GET', path: '/health' });
    expect([status, headers['www-authenticate']]).toEqual([404, undefined]);
  });

  it('guards GET and DELETE like POST', async () => {
    const { url } = await start({ validateToken });
    expect(await send(url, { method: 'GET' })).toMatchObject({ status: 401 });
    expect(await send(url, { method: 'DELETE' })).toMatchObject({ status: 401 });
  });
});

describe('cross-origin pages', () => {
  it('may send a preflight without a token, and may read the challenge', async () => {
    const { url } = await start({ validateToken });
    const headers = { origin: 'http://localhost:5173' };
    const preflight = await send(url, { method: 'OPTIONS', headers });
    expect(preflight.status).toBe(204);
    expect(preflight.headers['access-control-allow-headers']).toContain('Authorization');
    for (const answer of [preflight, await call(url, headers), await call(url, { ...headers, ...bearer('good') })]) {
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      expect(answer.headers['access-control-expose-headers']).toBe('WWW-Authenticate, Mcp-Session-Id');
    }
  });

  it('receive no CORS headers unless their origin is allowed', async () => {
    const { url } = await start({ validateToken }, { allowedOrigins: ['https://app.example'] });
    const stranger = await send(url, { method: 'OPTIONS', headers: { origin: 'https://evil.example' } });
    expect(stranger.headers['access-control-allow-origin']).toBeUndefined();
    const friend = await send(url, { method: 'OPTIONS', headers: { origin: 'https://app.example' } });
    expect(friend.headers).toMatchObject({ 'access-control-allow-origin': 'https://app.example', vary: 'Origin' });
  });
});

async function whoami(url: string, token: string): Promise<Record<string, unknown>> {
  const session = await openSession(url, bearer(token));
  const { json } = await send(url, {
    headers: { ...bearer(token), ...session },
    body: rpc('tools/call', { name: 'whoami' }),
  });
  return (JSON.parse(json.result.content[0].text) as { authInfo: Record<string, unknown> }).authInfo;
}

describe('the identity', () => {
  it('reaches tools with subject, scopes and claims, and without the token', async () => {
    const expiresAt = Math.floor(Date.now() / 1000) + 60;
    const { url } = await start({
      validateToken: () => ({
        valid: true,
        subject: 'ada',
        scopes: ['mcp:read'],
        clientId: 'app',
        expiresAt,
        claims: { tenant: 't1' },
      }),
    });
    expect(await whoami(url, 'secret-token')).toEqual({
      clientId: 'app',
      scopes: ['mcp:read'],
      expiresAt,
      resource: url,
      extra: { subject: 'ada', claims: { tenant: 't1' } },
    });
  });

  it('reaches tools in protocol version 2026-07-28 too', async () => {
    const { url } = await start({ validateToken });
    const { json } = await callTool(url, 'good', 'whoami');
    expect(json.result.content[0].text).toContain('"subject":"ada"');
  });

  it('reaches agents in their request context, in both eras', async () => {
    const { url } = await start({ validateToken });
    const headers = { ...bearer('good'), ...(await openSession(url, bearer('good'))) };
    const params = { name: 'ask_concierge', arguments: { message: 'Who am I?' } };
    const legacy = await send(url, { headers, body: rpc('tools/call', params) });
    const stateless = await callTool(url, 'good', params.name, params);
    for (const { json } of [legacy, stateless]) {
      const { text } = JSON.parse(json.result.content[0].text) as { text: string };
      const caller = { extra: { subject: 'ada' }, scopes: ['mcp:read'] };
      expect(JSON.parse(text)).toMatchObject([caller, { authInfo: caller }]);
      expect(text).not.toContain('good');
    }
  });

  it('requires the scopes of an agent by the name of its tool', async () => {
    const { url } = await start({ validateToken, toolScopes: { ask_concierge: ['mcp:write'] } });
    const params = { arguments: { message: 'Hello' } };
    expect((await callTool(url, 'good', 'ask_concierge', params)).status).toBe(403);
    expect((await callTool(url, 'other', 'ask_concierge', params)).status).toBe(200);
  });

  it('includes the token with exposeToken', async () => {
    const { url } = await start({ validateToken, exposeToken: true });
    expect(await whoami(url, 'good')).toMatchObject({ token: 'good' });
  });

  it('keeps the session of one user from another, named or not', async () => {
    const { url } = await start({ validateToken });
    const session = await openSession(url, bearer('good'));
    expect(await send(url, { headers: { ...bearer('other'), ...session }, body: rpc('ping') })).toMatchObject({
      status: 404,
    });
    const nameless = await start({ validateToken: createStaticTokenValidator(['one', 'two']) });
    const own = await openSession(nameless.url, bearer('one'));
    expect(await send(nameless.url, { headers: { ...bearer('two'), ...own }, body: rpc('ping') })).toMatchObject({
      status: 404,
    });
    expect(await send(nameless.url, { headers: { ...bearer('one'), ...own }, body: rpc('ping') })).toMatchObject({
      status: 200,
    });
  });

  it('keeps sessions and the state of input requests from the same subject of another issuer', async () => {
    const { url } = await start({
      validateToken: (token) => ({ valid: true, subject: '1', issuer: `https://${token}.example` }),
    });
    const session = await openSession(url, bearer('a'));
    const ping = (token: string) => send(url, { headers: { ...bearer(token), ...session }, body: rpc('ping') });
    expect([(await ping('a')).status, (await ping('b')).status]).toEqual([200, 404]);

    const _meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
    const ask = (token: string, more: object = {}) => callTool(url, token, 'ask', { _meta, ...more });
    const { requestState, inputRequests } = (await ask('a')).json.result;
    const [key = ''] = Object.keys(inputRequests as object);
    const answers = {
      requestState: requestState as string,
      inputResponses: { [key]: { action: 'accept', content: { name: 'Ada' } } },
    };
    expect((await ask('b', answers)).json.error.code).toBe(-32_602);
    expect((await ask('a', answers)).json.result.content[0].text).toBe('Hello, Ada!');
  });

  it('responds with 403 and all scopes that are needed', async () => {
    const { url, origin } = await start({ validateToken, requiredScopes: ['mcp:read', 'mcp:write'] });
    const { status, headers, json } = await call(url, bearer('good'));
    expect(status).toBe(403);
    expect(headers['www-authenticate']).toBe(
      `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", scope="mcp:read mcp:write", error="insufficient_scope", error_description="The token lacks a scope that this request needs"`,
    );
    expect(json).toMatchObject({ error: 'insufficient_scope' });
    expect(await call(url, bearer('other'))).toMatchObject({ status: 200 });
  });

  it('names every scope, however many there are', async () => {
    const requiredScopes = Array.from({ length: 60 }, (_, n) => `resource-${n}:read`);
    const { url } = await start({ validateToken, requiredScopes });
    const { headers } = await call(url, bearer('good'));
    expect(headers['www-authenticate']).toContain(`scope="${requiredScopes.join(' ')}"`);
  });

  it('rejects the call of a tool that needs more with 403, in both eras, and serves the others', async () => {
    const { url } = await start({ validateToken, requiredScopes: ['mcp:read'], toolScopes: { secret: ['mcp:write'] } });
    const session = await openSession(url, bearer('good'));
    const legacy = (token: string, name: string) =>
      send(url, { headers: { ...bearer(token), ...session }, body: rpc('tools/call', { name }) });
    const refused = await legacy('good', 'secret');
    expect(refused.status).toBe(403);
    expect(refused.headers['www-authenticate']).toContain('scope="mcp:read mcp:write", error="insufficient_scope"');
    expect(await legacy('good', 'whoami')).toMatchObject({ status: 200 });
    expect(await callTool(url, 'good', 'secret')).toMatchObject({ status: 403 });
    const allowed = await callTool(url, 'other', 'secret');
    expect(allowed.json.result.content[0].text).toBe('{"secret":42}');
  });

  it('checks every call of a batch', async () => {
    const { url } = await start({ validateToken, requiredScopes: ['mcp:read'], toolScopes: { secret: ['mcp:write'] } });
    const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'old', version: '1' } };
    const opened = await send(url, { headers: bearer('good'), body: rpc('initialize', params) });
    const headers = { ...bearer('good'), 'mcp-session-id': String(opened.headers['mcp-session-id']) };
    const first = rpc('tools/call', { name: 'whoami' }, 1);
    const refused = await send(url, { headers, body: [first, rpc('tools/call', { name: 'secret' }, 2)] });
    expect(refused.status).toBe(403);
    const served = await send(url, { headers, body: [first, rpc('ping', undefined, 2)] });
    expect([served.status, served.json.length]).toEqual([200, 2]);
  });

  it('checks the calls of an application that replaces the identity', async () => {
    const server = new MCPServer({
      name: 'Own identities',
      version: '1.0.0',
      tools: { secret: createTool({ id: 'secret', description: 'Needs more', execute: async () => 42 }) },
    });
    const { origin } = await serveHttp(async (req, res) => {
      const url = new URL(req.url ?? '', 'http://localhost');
      const oauth = { resource: `http://localhost/mcp`, authorizationServers: ['https://auth.example.com'] };
      const protect = createOAuthMiddleware({
        oauth: { ...oauth, validateToken, toolScopes: { secret: ['mcp:write'] } },
      });
      if (!(await protect(req, res, url)).proceed) return;
      Object.assign(req, { auth: { clientId: 'app' } });
      await server.startHTTP({ url, httpPath: '/mcp', serverless: true, req, res });
    });
    afterTest(() => server.close());
    const url = `${origin}/mcp`;
    expect(await callTool(url, 'good', 'secret')).toMatchObject({ status: 403 });
    expect(await callTool(url, 'other', 'secret')).toMatchObject({ status: 200 });
  });

  it('recognizes a call behind a byte order mark', async () => {
    const { url } = await start({ validateToken, toolScopes: { secret: ['mcp:write'] } });
    const { headers, body } = modern('tools/call', { name: 'secret', arguments: {} }, 1, bearer('good'));
    expect((await send(url, { headers, body: `\uFEFF${JSON.stringify(body)}` })).status).toBe(403);
  });

  it('leaves bodies that are not calls to the server behind', async () => {
    const { url } = await start({ validateToken, toolScopes: { secret: ['mcp:write'] } });
    const broken = await send(url, { headers: bearer('good'), body: '{"jsonrpc":' });
    expect([broken.status, broken.json.error.code]).toEqual([400, -32_700]);
    const huge = await send(url, { headers: bearer('good'), body: 'x'.repeat(5 * 1024 * 1024) }).catch(() => undefined);
    expect(huge?.status ?? 413).toBe(413);
  });
});

describe('validation', () => {
  it('responds to an exception with 500 without details, and the process continues', async () => {
    const validators = [
      () => {
        throw new Error('password=hunter2 for good');
      },
      () => Promise.reject(new Error('password=hunter2 for good')),
      () => Promise.reject(null),
      () => undefined as never,
      () => ({ valid: 'yes' }) as never,
      () => ({ valid: true, scopes: null }) as never,
      () => ({ valid: false, errorDescription: 42 }) as never,
    ];
    for (const validator of validators) {
      const { url, logged } = await start({ validateToken: validator });
      const answer = await call(url, bearer('good'));
      expect(answer.status).toBe(500);
      expect(answer.json).toEqual({ error: 'server_error', error_description: 'The token could not be checked' });
      expect(logged.join('\n')).not.toContain('for good');
      expect(await call(url)).toMatchObject({ status: 401 });
    }
  });

  it.each([
    ['that break lines', 'bad\r\nSet-Cookie: a=b', 'bad Set-Cookie: a=b'],
    ['outside ASCII', 'abgelaufen – schön "so" \\ 🙂', "abgelaufen sch n 'so'"],
  ])('removes characters %s from a description', async (_what, errorDescription, expected) => {
    const { url } = await start({ validateToken: () => ({ valid: false, error: 'invalid_token', errorDescription }) });
    const { status, headers } = await call(url, bearer('good'));
    expect(status).toBe(401);
    expect(headers['www-authenticate']).toContain(`error_description="${expected}"`);
    expect(headers['set-cookie']).toBeUndefined();
  });

  it('rejects an expired token that the validator accepts', async () => {
    const now = Math.floor(Date.now() / 1000);
    for (const expiresAt of [now - 3600, Number.NaN]) {
      const { url } = await start({ validateToken: () => ({ valid: true, expiresAt }) });
      expect(await call(url, bearer('good'))).toMatchObject({ status: 401 });
    }
  });

  it.each([
    ['scopes in one text, which contain another as a part', { scopes: 'mcp:readonly' }],
    ['a scope that is no text', { scopes: ['mcp:read', 1] }],
    ['an expiry in text', { scopes: ['mcp:read'], expiresAt: '9999999999' }],
    ['a subject that everyone would share', { scopes: ['mcp:read'], subject: '' }],
    ['a subject that is no text', { scopes: ['mcp:read'], subject: {} }],
    ['claims that are no object', { scopes: ['mcp:read'], claims: 'all' }],
  ])('that returns %s accepts no token, and the log names the member', async (_what, result) => {
    const { url, logged } = await start({
      requiredScopes: ['mcp:read'],
      validateToken: () => ({ valid: true, ...result }) as never,
    });
    expect(await call(url, bearer('good'))).toMatchObject({ status: 500 });
    expect(logged.join('')).toMatch(/validateToken\(\) must return `(scopes|expiresAt|subject|claims)` as/);
  });

  it('responds with the status of the error code', async () => {
    const expected = { invalid_request: 400, insufficient_scope: 403, temporarily_unavailable: 503, server_error: 500 };
    for (const [error, status] of Object.entries(expected)) {
      const { url } = await start({ validateToken: () => ({ valid: false, error }) });
      const answer = await call(url, bearer('good'));
      expect(answer.status).toBe(status);
      expect(answer.headers['retry-after']).toBe(status === 503 ? '5' : undefined);
    }
  });

  it('is required to start', () => {
    const oauth = { resource: 'https://x.example/mcp', authorizationServers: ['https://a.example'] };
    expect(() => createOAuthMiddleware({ oauth: oauth as never })).toThrow(errorOf('OAUTH_VALIDATOR_MISSING'));
    expect(() => createOAuthMiddleware({ oauth: { ...oauth, authorizationServers: [], validateToken } })).toThrow(
      errorOf('OAUTH_AUTHORIZATION_SERVERS_MISSING'),
    );
    expect(() =>
      createOAuthMiddleware({ oauth: { ...oauth, authorizationServers: ['http://a.example'], validateToken } }),
    ).toThrow(errorOf('OAUTH_URL_INSECURE'));
    expect(() => createOAuthMiddleware({ oauth: { ...oauth, validateToken }, mcpPath: 'mcp' })).toThrow(
      errorOf('OPTIONS_INVALID'),
    );
  });

  it('keeps a token that the validator repeats out of responses and logs', async () => {
    const { url, logged } = await start({
      validateToken: (token) => ({ valid: false, errorDescription: `${token} is bad` }),
    });
    const { headers, text } = await call(url, bearer('s3cr3t'));
    expect(JSON.stringify(headers) + text + logged.join('')).not.toContain('s3cr3t');
    expect(text).toContain('[token] is bad');
  });

  it('responds with 503 when the validator does not settle before the deadline', async () => {
    const { url, logged } = await start({ validateToken: () => new Promise(() => {}), validationTimeout: 50 });
    const { status, headers, json } = await call(url, bearer('good'));
    expect({ status, json }).toMatchObject({ status: 503, json: { error: 'temporarily_unavailable' } });
    expect(headers['retry-after']).toBe('5');
    expect(logged.join('')).toContain('did not settle within 50 ms');
  });

  it('ignores an error of the validator after the deadline', async () => {
    const validateToken = () => new Promise<never>((_resolve, reject) => setTimeout(reject, 100, new Error('late')));
    const { url } = await start({ validateToken, validationTimeout: 20 });
    expect(await call(url, bearer('good'))).toMatchObject({ status: 503 });
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(await call(url)).toMatchObject({ status: 401 });
  });

  it('keeps a token, or a part of one, that an error quotes out of the log', async () => {
    const token = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl';
    const validators: ((text: string) => never)[] = [
      (text) => JSON.parse(text) as never,
      (text) => {
        throw new Error(`cannot read ${text.slice(4, 30)}…, then ${text}, then ${encodeURIComponent(text)}`);
      },
    ];
    for (const validateToken of validators) {
      const { url, logged } = await start({ validateToken });
      expect(await call(url, bearer(token))).toMatchObject({ status: 500 });
      expect(logged.join('')).toContain('[token]');
      for (const part of ['eyJhbGci', 'OiJFUzI1', 'c2lnbmF0']) expect(logged.join('')).not.toContain(part);
    }
  });
});
