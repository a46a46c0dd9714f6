import { inspect } from 'node:util';
import {
  createClientCredentialsProvider,
  createOAuthFetch,
  createSimpleTokenProvider,
  finishAuthorization,
  InMemoryOAuthStorage,
  MCPOAuthClientProvider,
  type MCPOAuthClientProviderOptions,
} from '@quiver/mcp/auth';
import { MCPClient } from '@quiver/mcp/client';
import { exportPKCS8, generateKeyPair } from 'jose';
import { afterEach, describe, expect, it } from 'vitest';
import {
  startAuthorizationServer,
  type AuthorizationServer,
  type AuthorizationServerKnobs,
} from '../../../test/authorization-server.ts';
import { startProtectedServer, type ProtectedServer } from '../../../test/protected-server.ts';
import { initializeParams, rpc } from '../../../test/wire.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const redirectUrl = 'http://localhost:3999/callback';
const clientMetadata = { redirect_uris: [redirectUrl], client_name: 'Test' };

interface Stage {
  as: AuthorizationServer;
  mcp: ProtectedServer;
  /** Sign-in pages that were shown. */
  shown: URL[];
  storage: InMemoryOAuthStorage;
  provider(options?: Partial<MCPOAuthClientProviderOptions>): MCPOAuthClientProvider;
  call(fetch: ReturnType<typeof createOAuthFetch>, tool?: string): Promise<Response>;
  /** Does what a user does on the sign-in page, and finishes. */
  signIn(provider: MCPOAuthClientProvider, change?: (callback: URL) => void): Promise<void>;
}

/** A protected MCP server and its authorization server, both real and on loopback. */
async function setUp(knobs: AuthorizationServerKnobs = {}): Promise<Stage> {
  const as = await startAuthorizationServer(knobs);
  const mcp = await startProtectedServer({
    authorizationServers: [as.issuer],
    requiredScopes: ['mcp:read'],
    toolScopes: { secret: ['mcp:write'] },
    validateToken: (token) => {
      const scopes = as.active.get(token);
      return scopes ? { valid: true, subject: 'ada', scopes } : { valid: false, error: 'invalid_token' };
    },
  });
  closers.push(mcp.close, as.close);
  const shown: URL[] = [];
  const storage = new InMemoryOAuthStorage();
  return {
    as,
    mcp,
    shown,
    storage,
    provider: (options = {}) =>
      new MCPOAuthClientProvider({
        redirectUrl,
        clientMetadata,
        storage,
        onRedirectToAuthorization: (url) => void shown.push(url),
        ...options,
      }),
    call: (fetch, tool) =>
      fetch(mcp.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify(
          tool === undefined ? rpc('initialize', initializeParams) : rpc('tools/call', { name: tool }),
        ),
      }),
    signIn: async (provider, change) => {
      const page = shown.at(-1);
      if (!page) throw new Error('No sign-in page was shown.');
      const answer = await fetch(page, { redirect: 'manual' });
      const callback = new URL(String(answer.headers.get('location')));
      change?.(callback);
      const value = (name: string): string | undefined => callback.searchParams.get(name) ?? undefined;
      const iss = value('iss');
      await finishAuthorization({
        provider,
        serverUrl: mcp.url,
        callback: { code: String(value('code')), state: value('state'), ...(iss !== undefined && { iss }) },
      });
    },
  };
}

/** The same, with a user who has signed in. */
async function setUpSignedIn(
  knobs: AuthorizationServerKnobs = {},
): Promise<Stage & { user: MCPOAuthClientProvider; fetch: ReturnType<typeof createOAuthFetch> }> {
  const stage = await setUp(knobs);
  const user = stage.provider();
  const fetch = createOAuthFetch({ provider: user, serverUrl: stage.mcp.url });
  await expect(stage.call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
  await stage.signIn(user);
  expect((await stage.call(fetch)).status).toBe(200);
  return { ...stage, user, fetch };
}

describe('signing in', () => {
  it('OC06 OC13 registers, shows one page with PKCE S256, state, scope and resource, and calls with the token', async () => {
    const { as, mcp, shown, user } = await setUpSignedIn();
    expect(shown).toHaveLength(1);
    expect(as.registrations).toHaveLength(1);
    const asked = Object.fromEntries(shown[0]?.searchParams ?? []);
    expect(asked).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      client_id: 'client-1',
      redirect_uri: redirectUrl,
      resource: mcp.url,
      scope: 'mcp:read',
    });
    expect(asked['state']).toMatch(/^[\da-f-]{36}$/);
    expect(as.tokenRequests[0]?.get('resource')).toBe(mcp.url);
    expect(await user.hasValidTokens()).toBe(true);
  });

  it.each<[string, AuthorizationServerKnobs]>([
    ['only plain', { metadata: (found) => ({ ...found, code_challenge_methods_supported: ['plain'] }) }],
    ['nothing', { metadata: (found) => ({ ...found, code_challenge_methods_supported: undefined }) }],
  ])('OC06 is refused when the server offers %s instead of S256', async (_what, knobs) => {
    const { mcp, provider, call, shown, as } = await setUp(knobs);
    const fetch = createOAuthFetch({ provider: provider(), serverUrl: mcp.url });
    await expect(call(fetch)).rejects.toMatchObject({ code: 'OAUTH_PKCE_UNSUPPORTED' });
    expect([shown.length, as.registrations.length]).toEqual([0, 0]);
  });

  it.each<[string, (callback: URL) => void]>([
    ['missing', (url) => url.searchParams.delete('state')],
    ['another', (url) => url.searchParams.set('state', 'forged')],
  ])('OC07 rejects an answer whose state is %s, and wipes the verifier', async (_what, change) => {
    const { mcp, provider, call, signIn, as } = await setUp();
    const user = provider();
    await expect(call(createOAuthFetch({ provider: user, serverUrl: mcp.url }))).rejects.toMatchObject({
      code: 'OAUTH_AUTHORIZATION_REQUIRED',
    });
    await expect(signIn(user, change)).rejects.toMatchObject({ code: 'OAUTH_STATE_INVALID' });
    await expect(user.codeVerifier()).rejects.toMatchObject({ code: 'OAUTH_VERIFIER_MISSING' });
    expect(as.tokenRequests).toHaveLength(0);
  });

  it('OC07 accepts a state once, and for ten minutes; calls meanwhile show no other page', async () => {
    let now = Date.now();
    const { mcp, provider, call, signIn, shown } = await setUp();
    const user = provider({ now: () => now });
    const fetch = createOAuthFetch({ provider: user, serverUrl: mcp.url });
    await expect(call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    await expect(call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    expect(shown).toHaveLength(1);
    now += 10 * 60_000 + 1;
    await expect(signIn(user)).rejects.toMatchObject({ code: 'OAUTH_STATE_INVALID' });
    await expect(call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    await signIn(user);
    await expect(signIn(user)).rejects.toMatchObject({ code: 'OAUTH_STATE_INVALID' });
  });

  it.each([
    ['of another server', 'https://evil.example'],
    ['missing though promised', null],
  ])('OC08 rejects an answer with an issuer %s', async (_what, iss) => {
    const { mcp, provider, call, signIn, as } = await setUp({ iss });
    const user = provider();
    await expect(call(createOAuthFetch({ provider: user, serverUrl: mcp.url }))).rejects.toMatchObject({
      code: 'OAUTH_AUTHORIZATION_REQUIRED',
    });
    await expect(signIn(user)).rejects.toMatchObject({ code: 'OAUTH_EXCHANGE_FAILED' });
    expect(as.tokenRequests).toHaveLength(0);
  });

  it('OC09 rejects metadata of another issuer', async () => {
    const { mcp, provider, call, as } = await setUp({
      metadata: (found) => ({ ...found, issuer: 'https://other.example' }),
    });
    await expect(call(createOAuthFetch({ provider: provider(), serverUrl: mcp.url }))).rejects.toMatchObject({
      code: 'OAUTH_SIGN_IN_FAILED',
    });
    expect([as.registrations.length, as.tokenRequests.length]).toEqual([0, 0]);
  });

  it('OC09 never shows one server the registration or the tokens of another', async () => {
    const first = await setUpSignedIn();
    const second = await startAuthorizationServer();
    closers.push(second.close);
    const moved = await startProtectedServer({
      authorizationServers: [second.issuer],
      resource: first.mcp.url,
      validateToken: () => ({ valid: false }),
    });
    closers.push(moved.close);
    const { port } = new URL(moved.url);
    const fetch = createOAuthFetch({
      provider: first.user,
      serverUrl: first.mcp.url,
      // The MCP server moves to another authorization server: same URL, other answers.
      fetch: (url, init) => {
        const target = new URL(url);
        if (target.host === new URL(first.mcp.url).host) target.port = port;
        return globalThis.fetch(target, init);
      },
    });
    first.as.active.clear();
    first.as.knobs.token = (_form, res) => {
      res.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}');
      return true;
    };
    await expect(first.call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    expect(first.shown.at(-1)?.origin).toBe(second.issuer);
    expect(second.registrations).toHaveLength(1);
    expect(second.tokenRequests).toHaveLength(0);
  });

  it('prefers its metadata document, then registration; a pre-registered client registers nowhere', async () => {
    const knobs = { metadata: (found: object) => ({ ...found, client_id_metadata_document_supported: true }) };
    const clientMetadataUrl = 'https://app.example.com/client.json';
    const documented = await setUp(knobs);
    const withDocument = documented.provider({ clientMetadataUrl });
    await expect(
      documented.call(createOAuthFetch({ provider: withDocument, serverUrl: documented.mcp.url })),
    ).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    expect(documented.shown[0]?.searchParams.get('client_id')).toBe(clientMetadataUrl);
    const known = await setUp(knobs);
    const preRegistered = known.provider({ clientMetadataUrl, clientInformation: { client_id: 'mine' } });
    await expect(
      known.call(createOAuthFetch({ provider: preRegistered, serverUrl: known.mcp.url })),
    ).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    expect(known.shown[0]?.searchParams.get('client_id')).toBe('mine');
    expect(documented.as.registrations.length + known.as.registrations.length).toBe(0);
  });

  it('OC09 shows the secret of a pre-registered client to the first authorization server only', async () => {
    const { provider, mcp } = await setUp();
    const user = provider({ clientInformation: { client_id: 'mine', client_secret: 's' } });
    user.bind(mcp.url);
    expect(await user.clientInformation({ issuer: 'https://a.example' })).toMatchObject({ client_secret: 's' });
    expect(await user.clientInformation({ issuer: 'https://b.example' })).toBeUndefined();
    expect(await user.clientInformation({ issuer: 'https://a.example' })).toMatchObject({ client_secret: 's' });
  });

  it('keeps the tokens it has when a later sign-in fails', async () => {
    const { as, call, fetch, user, signIn } = await setUpSignedIn();
    await expect(call(fetch, 'secret')).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    await expect(signIn(user, (url) => url.searchParams.set('code', 'stale'))).rejects.toMatchObject({
      code: 'OAUTH_EXCHANGE_FAILED',
    });
    expect((await call(fetch)).status).toBe(200);
    expect(as.registrations).toHaveLength(1);
  });

  it('registers again after the server has forgotten the client', async () => {
    const { mcp, provider, call, signIn, shown, as } = await setUp();
    const user = provider();
    const fetch = createOAuthFetch({ provider: user, serverUrl: mcp.url });
    await expect(call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    as.knobs.token = (_form, res) => {
      res.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}');
      return true;
    };
    await expect(signIn(user)).rejects.toMatchObject({
      code: 'OAUTH_EXCHANGE_FAILED',
      details: { error: 'invalid_client' },
    });
    delete as.knobs.token;
    await expect(call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    expect(as.registrations).toHaveLength(2);
    expect(shown.at(-1)?.searchParams.get('client_id')).toBe('client-2');
    await signIn(user);
    expect((await call(fetch)).status).toBe(200);
  });

  it('OC17 rejects tokens of another type', async () => {
    const { mcp, provider, call, signIn } = await setUp({
      token: (_form, res) => {
        res.writeHead(200, { 'content-type': 'application/json' }).end('{"access_token":"a","token_type":"mac"}');
        return true;
      },
    });
    const user = provider();
    await expect(call(createOAuthFetch({ provider: user, serverUrl: mcp.url }))).rejects.toMatchObject({
      code: 'OAUTH_AUTHORIZATION_REQUIRED',
    });
    await expect(signIn(user)).rejects.toMatchObject({ code: 'OAUTH_TOKEN_TYPE_UNSUPPORTED' });
    expect(await user.hasValidTokens()).toBe(false);
  });
});

describe('refreshing', () => {
  it('OC01 serves twenty parallel calls with one refresh', async () => {
    const { as, call, fetch, shown } = await setUpSignedIn();
    as.active.clear();
    const answers = await Promise.all(Array.from({ length: 20 }, () => call(fetch)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(as.tokenRequests.filter((form) => form.get('grant_type') === 'refresh_token')).toHaveLength(1);
    expect([as.familyRevoked, shown.length]).toEqual([false, 1]);
  });

  it('OC01 is shared by clients with one storage', async () => {
    const { as, mcp, call, fetch, provider } = await setUpSignedIn();
    const other = createOAuthFetch({ provider: provider(), serverUrl: mcp.url });
    as.active.clear();
    await Promise.all([call(fetch), call(other), call(fetch), call(other)]);
    expect(as.tokenRequests).toHaveLength(2);
    expect(as.familyRevoked).toBe(false);
  });

  it('OC01 is one for all parallel calls through the authProvider of MCPClient', async () => {
    const { as, mcp, shown, user } = await setUpSignedIn();
    const client = new MCPClient({ id: 'refresh', servers: { mcp: { url: mcp.url, authProvider: user } } });
    const { mcp_whoami: whoami } = await client.listTools();
    as.active.clear();
    const results = await Promise.all(Array.from({ length: 6 }, () => whoami?.execute?.({}, {} as never)));
    expect(results.map((result) => JSON.stringify(result).includes('ada'))).toEqual(results.map(() => true));
    expect(as.tokenRequests.filter((form) => form.get('grant_type') === 'refresh_token')).toHaveLength(1);
    expect([as.familyRevoked, shown.length]).toEqual([false, 1]);
    await client.disconnect();
  });

  it('OC01 happens before a call when the token is known to have expired, through MCPClient too', async () => {
    let now = Date.now();
    const stage = await setUp();
    const user = stage.provider({ now: () => now });
    const fetch = createOAuthFetch({ provider: user, serverUrl: stage.mcp.url });
    await expect(stage.call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    await stage.signIn(user);
    const client = new MCPClient({ id: 'oauth-fetch', servers: { mcp: { url: stage.mcp.url, fetch } } });
    const { mcp_whoami: whoami } = await client.listTools();
    stage.as.active.clear();
    now += 3601_000;
    const results = await Promise.all([1, 2, 3].map(() => whoami?.execute?.({}, {} as never)));
    expect(results.map((result) => JSON.stringify(result).includes('ada'))).toEqual([true, true, true]);
    expect(stage.as.tokenRequests.map((form) => form.get('grant_type'))).toEqual([
      'authorization_code',
      'refresh_token',
    ]);
    await client.disconnect();
  });

  it('OC03 turns invalid_grant into one sign-in, and deletes only the tokens it used', async () => {
    const { as, call, fetch, shown, user } = await setUpSignedIn();
    as.active.clear();
    as.knobs.token = (_form, res) => {
      res.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}');
      return true;
    };
    const answers = await Promise.allSettled(Array.from({ length: 6 }, () => call(fetch)));
    expect(answers.every(({ status }) => status === 'rejected')).toBe(true);
    expect(shown).toHaveLength(2);
    expect(await user.tokens()).toBeUndefined();
  });

  it('OC03 keeps newer tokens that somebody else has stored meanwhile', async () => {
    const { as, call, fetch, user, shown } = await setUpSignedIn();
    as.active.clear();
    as.active.set('newer', ['mcp:read']);
    as.knobs.token = (_form, res) => {
      const saved = user.saveTokens({ access_token: 'newer', token_type: 'Bearer', refresh_token: 'r' });
      void saved.finally(() =>
        res.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}'),
      );
      return true;
    };
    expect((await call(fetch)).status).toBe(200);
    expect((await user.tokens())?.access_token).toBe('newer');
    expect(shown).toHaveLength(1);
  });

  it.each<[string, number, string]>([
    ['503', 503, ''],
    ['an HTML page', 502, '<html>'],
    ['temporarily_unavailable', 400, '{"error":"temporarily_unavailable"}'],
  ])('OC04 keeps the tokens through %s, tries again, and shows no page', async (_what, status, body) => {
    const { as, call, fetch, user, shown } = await setUpSignedIn();
    as.active.clear();
    let refusals = 2;
    as.knobs.token = (_form, res) => {
      refusals -= 1;
      if (refusals < 0) return false;
      res.writeHead(status, { 'content-type': 'application/json' }).end(body);
      return true;
    };
    expect((await call(fetch)).status).toBe(200);
    as.active.clear();
    refusals = 100;
    await expect(call(fetch)).rejects.toMatchObject({ code: 'OAUTH_UNAVAILABLE' });
    expect((await user.tokens())?.refresh_token).toBeDefined();
    expect(shown).toHaveLength(1);
  });

  it('OC05 keeps the refresh token when the answer brings no new one', async () => {
    const { as, call, fetch, user } = await setUpSignedIn({ keepsRefreshToken: true });
    const before = (await user.tokens())?.refresh_token;
    as.active.clear();
    expect((await call(fetch)).status).toBe(200);
    expect((await user.tokens())?.refresh_token).toBe(before);
    as.active.clear();
    expect((await call(fetch)).status).toBe(200);
  });

  it('OC13 names the resource', async () => {
    const { as, mcp, call, fetch } = await setUpSignedIn();
    as.active.clear();
    await call(fetch);
    expect(as.tokenRequests.at(-1)?.get('resource')).toBe(mcp.url);
  });
});

describe('more scopes', () => {
  it('OC16 asks once for the union, and calls again with the new token', async () => {
    const { call, fetch, shown, signIn, user, as } = await setUpSignedIn();
    await expect(call(fetch, 'secret')).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    expect(shown.at(-1)?.searchParams.get('scope')).toBe('mcp:read mcp:write');
    await signIn(user);
    expect((await user.tokens())?.scope).toBe('mcp:read mcp:write');
    expect((await call(fetch, 'secret')).status).not.toBe(403);
    expect(as.authorizeRequests).toHaveLength(2);
  });

  it('OC16 gives the 403 back when the new token is not good enough either', async () => {
    const { mcp, call, as } = await setUp();
    let grants = 0;
    as.knobs.token = (_form, res) => {
      grants += 1;
      as.active.set(`t${grants}`, ['mcp:read']);
      const tokens = { access_token: `t${grants}`, token_type: 'Bearer', scope: 'mcp:read' };
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(tokens));
      return true;
    };
    const provider = createClientCredentialsProvider({ clientId: 'bot', clientSecret: 's' });
    const answer = await call(createOAuthFetch({ provider, serverUrl: mcp.url }), 'secret');
    expect([answer.status, grants]).toEqual([403, 2]);
  });

  it('OC16 asks the user once for scopes that are not granted, and shows the 403 from then on', async () => {
    const { call, fetch, shown, signIn, user, as } = await setUpSignedIn();
    await expect(call(fetch, 'secret')).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    as.knobs.token = (_form, res) => {
      as.active.set('less', ['mcp:read']);
      const tokens = { access_token: 'less', token_type: 'Bearer', scope: 'mcp:read' };
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(tokens));
      return true;
    };
    await signIn(user);
    expect((await call(fetch, 'secret')).status).toBe(403);
    expect((await call(fetch, 'secret')).status).toBe(403);
    expect(shown).toHaveLength(2);
  });
});

describe('client credentials', () => {
  it('gets a token with a secret, in the header, without a user', async () => {
    const { mcp, call, as } = await setUp();
    const provider = createClientCredentialsProvider({ clientId: 'bot', clientSecret: 's3cret', scope: 'mcp:read' });
    expect((await call(createOAuthFetch({ provider, serverUrl: mcp.url }))).status).toBe(200);
    expect(as.authorizations[0]).toBe(`Basic ${Buffer.from('bot:s3cret').toString('base64')}`);
    expect(Object.fromEntries(as.tokenRequests[0] ?? [])).toEqual({
      grant_type: 'client_credentials',
      scope: 'mcp:read',
      resource: mcp.url,
    });
  });

  it('gets a token with a signed assertion', async () => {
    const { mcp, call, as } = await setUp();
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    const provider = createClientCredentialsProvider({ clientId: 'bot', privateKey: await exportPKCS8(privateKey) });
    expect((await call(createOAuthFetch({ provider, serverUrl: mcp.url }))).status).toBe(200);
    const [, payload] = (as.tokenRequests[0]?.get('client_assertion') ?? '').split('.');
    expect(JSON.parse(Buffer.from(String(payload), 'base64url').toString())).toMatchObject({
      iss: 'bot',
      sub: 'bot',
      aud: as.issuer,
    });
    expect(as.authorizations[0]).toBeUndefined();
  });
});

describe('what must not happen', () => {
  it.each([
    ['javascript:', 'javascript:alert(1)'],
    ['file:', 'file:///etc/passwd'],
    ['an open line', 'http://auth.example.com/token'],
    ['link-local', 'http://169.254.169.254/latest'],
    ['credentials in the URL', 'https://u:p@auth.example.com/token'],
    ['a shell', 'https://$(touch /tmp/x)/token'],
  ])('OC12 an endpoint is asked that is %s', async (_what, endpoint) => {
    for (const name of ['token_endpoint', 'authorization_endpoint', 'registration_endpoint']) {
      const { mcp, provider, call, shown, as } = await setUp({ metadata: (found) => ({ ...found, [name]: endpoint }) });
      const fetched: string[] = [];
      const fetch = createOAuthFetch({
        provider: provider(),
        serverUrl: mcp.url,
        fetch: (url, init) => {
          fetched.push(new URL(url).origin);
          return globalThis.fetch(url, init);
        },
      });
      await expect(call(fetch)).rejects.toMatchObject({ code: expect.stringMatching(/^OAUTH_/) as string });
      expect([shown.length, as.registrations.length]).toEqual([0, 0]);
      expect(new Set(fetched)).toEqual(new Set([mcp.origin, as.issuer]));
    }
  });

  it.each(['https://10.0.0.1', 'https://169.254.169.254', 'https://[fd00::1]', 'https://[::ffff:10.0.0.1]'])(
    'OC12 metadata is fetched from %s',
    async (issuer) => {
      const { provider } = await setUp();
      const moved = await startProtectedServer({
        authorizationServers: [issuer],
        validateToken: () => ({ valid: false }),
      });
      closers.push(moved.close);
      const fetched: string[] = [];
      const fetch = createOAuthFetch({
        provider: provider(),
        serverUrl: moved.url,
        fetch: (url, init) => {
          fetched.push(new URL(url).origin);
          return globalThis.fetch(url, init);
        },
      });
      const request = fetch(moved.url, { method: 'POST', body: '{}' });
      await expect(request).rejects.toMatchObject({ code: 'OAUTH_URL_PRIVATE' });
      expect(new Set(fetched)).toEqual(new Set([moved.origin]));
    },
  );

  it('OC12 a redirect is followed, or a megabyte read, at the token endpoint', async () => {
    const { as, call, fetch, user } = await setUpSignedIn();
    for (const reply of ['redirect', 'flood']) {
      as.active.clear();
      as.knobs.token = (_form, res) => {
        if (reply === 'redirect') res.writeHead(307, { location: 'http://127.0.0.1:1/' }).end();
        else res.writeHead(200).end('x'.repeat(1_100_000));
        return true;
      };
      const code = reply === 'redirect' ? 'OAUTH_REDIRECT_REFUSED' : 'OAUTH_ANSWER_TOO_LARGE';
      await expect(call(fetch)).rejects.toMatchObject({ code });
    }
    expect((await user.tokens())?.refresh_token).toBeDefined();
  });

  it('OC15 a token goes to another origin, or to another server of one provider', async () => {
    const { user, mcp } = await setUpSignedIn();
    let authorization: string | null = 'unset';
    const watching = createOAuthFetch({
      provider: user,
      serverUrl: mcp.url,
      fetch: async (_url, init) => {
        authorization = new Headers(init?.headers).get('authorization');
        return new Response('{}');
      },
    });
    await watching('https://elsewhere.example/');
    expect(authorization).toBeNull();
    expect(() => createOAuthFetch({ provider: user, serverUrl: 'https://elsewhere.example/mcp' })).toThrow(
      expect.objectContaining({ code: 'OAUTH_PROVIDER_SHARED' }) as Error,
    );
  });

  it('OC15 providers of two servers confuse their tokens in one storage', async () => {
    const { storage, provider, user, mcp } = await setUpSignedIn();
    const other = provider({ storage });
    other.bind('https://elsewhere.example/mcp');
    expect(await other.tokens()).toBeUndefined();
    const again = provider({ storage });
    again.bind(mcp.url);
    expect(await again.tokens()).toEqual(await user.tokens());
  });

  it('OC18 a secret appears in an error or in a printed object', async () => {
    const { as, call, fetch, user } = await setUpSignedIn();
    const tokens = await user.tokens();
    as.active.clear();
    as.knobs.token = (form, res) => {
      const text = { error: 'server_error', error_description: `no ${form.get('refresh_token')}` };
      res.writeHead(500, { 'content-type': 'application/json' }).end(JSON.stringify(text));
      return true;
    };
    const error = await call(fetch).catch((reason: unknown) => reason);
    const simple = createSimpleTokenProvider('s3cr3t', { redirectUrl, clientMetadata, refreshToken: 's3cr3t' });
    const machine = createClientCredentialsProvider({ clientId: 'bot', clientSecret: 's3cr3t' });
    const printed =
      inspect([error, user, simple, machine], { depth: 10, showHidden: true }) +
      JSON.stringify([user, simple, machine]);
    for (const secret of [tokens?.access_token, tokens?.refresh_token, 's3cr3t']) {
      expect(printed).not.toContain(String(secret));
    }
  });
});

describe('a storage', () => {
  it.each<[string, () => string]>([
    ['garbage', () => 'garbage'],
    ['half JSON', () => '{"access_token":"s3cr3t'],
    ['a number', () => '1'],
    ['a prototype', () => '{"__proto__":{"access_token":"a","token_type":"Bearer"}}'],
    [
      'an exception',
      () => {
        throw new Error('disk');
      },
    ],
  ])('OC14 that returns %s counts as empty, with one warning at most', async (_what, get) => {
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, warn: (message: string) => void warnings.push(message), error() {} };
    const provider = new MCPOAuthClientProvider({
      redirectUrl,
      clientMetadata,
      logger,
      storage: { get, set() {}, delete() {} },
    });
    expect(await provider.tokens()).toBeUndefined();
    expect(await provider.clientInformation()).toBeUndefined();
    expect(await provider.hasValidTokens()).toBe(false);
    expect(warnings.length).toBeLessThan(2);
    expect(warnings.join('')).not.toContain('s3cr3t');
    expect(({} as { access_token?: string }).access_token).toBeUndefined();
  });

  it('OC14 that cannot be written does not end the sign-in', async () => {
    const stage = await setUp();
    const full = {
      get: () => undefined,
      set: () => Promise.reject(new Error('disk full')),
      delete: () => Promise.reject(new Error('disk full')),
    };
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, warn: (message: string) => void warnings.push(message), error() {} };
    const user = stage.provider({ storage: full, logger });
    const fetch = createOAuthFetch({ provider: user, serverUrl: stage.mcp.url });
    await expect(stage.call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    await stage.signIn(user);
    expect((await stage.call(fetch)).status).toBe(200);
    expect(warnings).toHaveLength(1);
  });
});

describe('createSimpleTokenProvider', () => {
  it('sends its token, and knows whether it is still good', async () => {
    const { as, mcp, call } = await setUp();
    as.active.set('given', ['mcp:read']);
    const provider = createSimpleTokenProvider('given', { redirectUrl, clientMetadata });
    expect((await call(createOAuthFetch({ provider, serverUrl: mcp.url }))).status).toBe(200);
    expect(await provider.hasValidTokens()).toBe(true);
    const expired = createSimpleTokenProvider('given', { redirectUrl, clientMetadata, expiresIn: -1 });
    expect(await expired.hasValidTokens()).toBe(false);
  });

  it('serves the authProvider of MCPClient', async () => {
    const { as, mcp } = await setUp();
    as.active.set('given', ['mcp:read']);
    const authProvider = createSimpleTokenProvider('given', { redirectUrl, clientMetadata });
    const client = new MCPClient({ id: 'simple', servers: { mcp: { url: mcp.url, authProvider } } });
    expect(Object.keys(await client.listTools())).toContain('mcp_whoami');
    await client.disconnect();
  });

  it('is not needed for it: a provider that has nothing yet signs in, is finished, and serves', async () => {
    const { mcp, provider, signIn, as } = await setUp();
    const authProvider = provider();
    const client = new MCPClient({ id: 'sign-in', servers: { mcp: { url: mcp.url, authProvider } } });
    expect(Object.keys((await client.listToolsWithErrors()).errors)).toEqual(['mcp']);
    await signIn(authProvider);
    expect(Object.keys(await client.listTools())).toContain('mcp_whoami');
    expect(as.tokenRequests).toHaveLength(1);
    await client.disconnect();
  });
});
