import { inspect } from 'node:util';
import { createClientCredentialsProvider, createOAuthFetch, createSimpleTokenProvider } from '@quiver/mcp/auth';
import { describe, expect, it } from 'vitest';
import { serveHttp } from '../../../test/after-test.ts';
import { clientMetadata, redirectUrl, setUp, setUpSignedIn } from '../../../test/oauth/oauth-stage.ts';
import { startProtectedServer } from '../../../test/oauth/protected-server.ts';

describe('createOAuthFetch', () => {
  it.each([
    ['javascript:', 'javascript:alert(1)'],
    ['file:', 'file:///etc/passwd'],
    ['an open line', 'http://auth.example.com/token'],
    ['link-local', 'http://169.254.169.254/latest'],
    ['credentials in the URL', 'https://u:p@auth.example.com/token'],
    ['a shell', 'https://$(touch /tmp/x)/token'],
  ])('rejects an endpoint that is %s', async (_what, endpoint) => {
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
    'metadata is fetched from %s',
    async (issuer) => {
      const { provider } = await setUp();
      const moved = await startProtectedServer({
        authorizationServers: [issuer],
        validateToken: () => ({ valid: false }),
      });
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

  it('requests resource metadata at the origin of the server only', async () => {
    const requested: string[] = [];
    const elsewhere = await serveHttp((_req, res) => {
      requested.push('elsewhere');
      res.writeHead(404).end();
    });
    const named = new Map([
      ['/far', `${elsewhere.origin}/metadata`],
      ['/near', '/metadata'],
    ]);
    const { origin } = await serveHttp((req, res) => {
      const { pathname } = new URL(String(req.url), origin);
      requested.push(pathname);
      const metadata = new URL(named.get(pathname) ?? '/', origin).href;
      res.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` }).end();
    });
    const { provider } = await setUp();
    for (const serverUrl of [`${origin}/near`, `${origin}/far`])
      await createOAuthFetch({ provider: provider(), serverUrl })(serverUrl).catch(() => {});
    expect(requested).toContain('/metadata');
    expect(requested).not.toContain('elsewhere');
  });

  it('rejects a redirect and a large response of the token endpoint', async () => {
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

  it('sends a token to no other origin, and binds a provider to one server', async () => {
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

  it('separates the tokens of two servers in one storage', async () => {
    const { storage, provider, user, mcp } = await setUpSignedIn();
    const other = provider({ storage });
    other.bind('https://elsewhere.example/mcp');
    expect(await other.tokens()).toBeUndefined();
    const again = provider({ storage });
    again.bind(mcp.url);
    expect(await again.tokens()).toEqual(await user.tokens());
  });

  it('keeps secrets out of errors and printed objects', async () => {
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

  it.each(['s3cr3t', '{"access_token":"s3cr3t"} and more', '{"access_token":["s3cr3t"]}'])(
    'does not quote the malformed token response %s in an error',
    async (answer) => {
      const { as, call, fetch, user, signIn, shown } = await setUpSignedIn();
      as.active.clear();
      as.answer(200, answer);
      const refresh = await call(fetch).catch((reason: unknown) => reason);
      expect(refresh).toMatchObject({ code: 'OAUTH_UNAVAILABLE' });
      await user.invalidateCredentials('tokens');
      await call(fetch).catch(() => {});
      expect(shown).toHaveLength(2);
      const exchange = await signIn(user).catch((reason: unknown) => reason);
      expect(exchange).toMatchObject({ code: 'OAUTH_EXCHANGE_FAILED' });
      expect(inspect([refresh, exchange], { depth: 10, showHidden: true })).not.toContain('s3cr');
    },
  );

  it('does not quote a client secret that no header can carry', async () => {
    const { signIn, begin } = await setUp();
    const { user } = await begin({
      addClientAuthentication: (headers) => headers.set('authorization', 'Basic s3cr3t\nx'),
    });
    const error = await signIn(user).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'OAUTH_EXCHANGE_FAILED' });
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('s3cr3t');
  });

  it('rejects a token that no header can carry, without quoting it', async () => {
    const { callWith } = await setUp();
    const broken = createSimpleTokenProvider('s3cr3t\nand more', { redirectUrl, clientMetadata });
    const error = await callWith(broken).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'OAUTH_TOKEN_INVALID' });
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('s3cr3t');
    // A line break at its end, as in a file, does no harm.
    const fromFile = createSimpleTokenProvider('unknown\n', { redirectUrl, clientMetadata });
    await expect(callWith(fromFile)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
  });
});
