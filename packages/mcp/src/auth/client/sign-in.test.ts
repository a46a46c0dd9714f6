import { createOAuthFetch } from '@quiver/mcp/auth';
import { describe, expect, it } from 'vitest';
import { errorOf } from '../../../test/error-of.ts';
import { startAuthorizationServer, type AuthorizationServerKnobs } from '../../../test/oauth/authorization-server.ts';
import { redirectUrl, setUp, setUpSignedIn } from '../../../test/oauth/oauth-stage.ts';
import { startProtectedServer } from '../../../test/oauth/protected-server.ts';

describe('signing in', () => {
  it('registers, shows one page with PKCE S256, state, scope and resource, and calls with the token', async () => {
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
  ])('is refused when the server offers %s instead of S256', async (_what, knobs) => {
    const { provider, callWith, shown, as } = await setUp(knobs);
    await expect(callWith(provider())).rejects.toMatchObject({ code: 'OAUTH_PKCE_UNSUPPORTED' });
    expect([shown.length, as.registrations.length]).toEqual([0, 0]);
  });

  it.each<[string, (callback: URL) => void]>([
    ['missing', (url) => url.searchParams.delete('state')],
    ['another', (url) => url.searchParams.set('state', 'forged')],
  ])('rejects a response whose state is %s, and wipes the verifier', async (_what, change) => {
    const { signIn, as, begin } = await setUp();
    const { user } = await begin();
    await expect(signIn(user, change)).rejects.toMatchObject({ code: 'OAUTH_STATE_INVALID' });
    await expect(user.codeVerifier()).rejects.toMatchObject({ code: 'OAUTH_VERIFIER_MISSING' });
    expect(as.tokenRequests).toHaveLength(0);
  });

  it('accepts a state once, and for ten minutes; calls meanwhile show no other page', async () => {
    let now = Date.now();
    const { call, signIn, shown, begin } = await setUp();
    const { user, fetch } = await begin({ now: () => now });
    await expect(call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    expect(shown).toHaveLength(1);
    now += 10 * 60_000 + 1;
    await expect(signIn(user)).rejects.toMatchObject({ code: 'OAUTH_STATE_INVALID' });
    await expect(call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    await signIn(user);
    await expect(signIn(user)).rejects.toMatchObject({ code: 'OAUTH_STATE_INVALID' });
  });

  it('rejects a second response with the same state while the code of the first is exchanged', async () => {
    const { signIn, as, begin } = await setUp();
    const { user } = await begin();
    let second: Promise<unknown> | undefined;
    as.knobs.token = (_form, res) => {
      const tokens = JSON.stringify({ access_token: 'new', token_type: 'Bearer' });
      const answer = () => res.writeHead(200, { 'content-type': 'application/json' }).end(tokens);
      if (second) answer();
      else
        second = signIn(user)
          .catch((error: unknown) => error)
          .finally(answer);
      return true;
    };
    await signIn(user);
    expect(await second).toMatchObject({ code: 'OAUTH_STATE_INVALID' });
    expect(as.tokenRequests).toHaveLength(1);
  });

  it.each([
    ['of another server', 'https://evil.example'],
    ['missing though promised', null],
  ])('rejects a response with an issuer %s', async (_what, iss) => {
    const { signIn, as, begin } = await setUp({ iss });
    const { user } = await begin();
    await expect(signIn(user)).rejects.toMatchObject({ code: 'OAUTH_EXCHANGE_FAILED' });
    expect(as.tokenRequests).toHaveLength(0);
  });

  it('sends no code to an authorization server that the MCP server has named since the page was shown', async () => {
    const { as, signIn, begin } = await setUp({
      iss: null,
      metadata: (found) => ({ ...found, authorization_response_iss_parameter_supported: false }),
    });
    const evil = await startAuthorizationServer();
    const { user } = await begin({ clientMetadataUrl: 'https://app.example.com/client.json' });
    const found = await user.discoveryState();
    const { issuer } = evil;
    const metadata = { ...found?.authorizationServerMetadata, issuer, token_endpoint: `${issuer}/token` } as never;
    await user.saveDiscoveryState({ ...found, authorizationServerUrl: issuer, authorizationServerMetadata: metadata });
    await user.saveClientInformation({ client_id: 'c', issuer }, { issuer });
    await expect(signIn(user)).rejects.toMatchObject({ code: 'OAUTH_STATE_INVALID' });
    expect([as.tokenRequests.length, evil.tokenRequests.length]).toEqual([0, 0]);
    await expect(user.codeVerifier()).rejects.toMatchObject({ code: 'OAUTH_VERIFIER_MISSING' });
  });

  it('says that the storage lacks the sign-in when the registration was lost meanwhile', async () => {
    const { signIn, begin } = await setUp();
    const { user } = await begin();
    await user.invalidateCredentials('client');
    await expect(signIn(user)).rejects.toMatchObject({ code: 'OAUTH_VERIFIER_MISSING' });
  });

  it('names what to pass when the server does not register clients', async () => {
    const { provider, callWith, shown } = await setUp({
      metadata: (found) => ({ ...found, registration_endpoint: undefined }),
    });
    await expect(callWith(provider())).rejects.toThrow(errorOf('OAUTH_SIGN_IN_FAILED', 'Pass `clientInformation`'));
    expect(shown).toHaveLength(0);
  });

  it('accepts tokens with status 201, and an error with status 200', async () => {
    const { as, call, signIn, begin } = await setUp();
    const { user, fetch } = await begin();
    as.answer(200, '{"error":"invalid_grant"}');
    await expect(signIn(user)).rejects.toMatchObject({
      code: 'OAUTH_EXCHANGE_FAILED',
      details: { error: 'invalid_grant' },
    });
    await expect(call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    as.knobs.token = (_form, res) => {
      as.active.set('created', ['mcp:read']);
      res
        .writeHead(201, { 'content-type': 'application/json' })
        .end('{"access_token":"created","token_type":"bearer"}');
      return true;
    };
    await signIn(user);
    expect((await call(fetch)).status).toBe(200);
  });

  it('never shows one server the registration or the tokens of another', async () => {
    const first = await setUpSignedIn();
    const second = await startAuthorizationServer();
    const moved = await startProtectedServer({
      authorizationServers: [second.issuer],
      resource: first.mcp.url,
      validateToken: () => ({ valid: false }),
    });
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
    first.as.answer(400, '{"error":"invalid_grant"}');
    await expect(first.call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    expect(first.shown.at(-1)?.origin).toBe(second.issuer);
    expect(second.registrations).toHaveLength(1);
    expect(second.tokenRequests).toHaveLength(0);
  });

  it('prefers its metadata document, then registration; a pre-registered client registers nowhere', async () => {
    const knobs = { metadata: (found: object) => ({ ...found, client_id_metadata_document_supported: true }) };
    const clientMetadataUrl = 'https://app.example.com/client.json';
    const documented = await setUp(knobs);
    await documented.begin({ clientMetadataUrl });
    expect(documented.shown[0]?.searchParams.get('client_id')).toBe(clientMetadataUrl);
    const known = await setUp(knobs);
    await known.begin({ clientMetadataUrl, clientInformation: { client_id: 'mine' } });
    expect(known.shown[0]?.searchParams.get('client_id')).toBe('mine');
    expect(documented.as.registrations.length + known.as.registrations.length).toBe(0);
  });

  it.each([
    'http://app.example.com/client.json',
    'https://app.example.com/',
    'https://app.example.com/c#x',
    'client.json',
  ])('refuses %s as the address of its metadata document', async (clientMetadataUrl) => {
    const { provider } = await setUp();
    expect(() => provider({ clientMetadataUrl })).toThrow(errorOf('OPTIONS_INVALID'));
  });

  it('shows the secret of a pre-registered client to the first authorization server only', async () => {
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
    await expect(signIn(user, (url) => url.searchParams.set('code', 'stale'))).rejects.toThrow(
      errorOf('OAUTH_EXCHANGE_FAILED'),
    );
    expect((await call(fetch)).status).toBe(200);
    expect(as.registrations).toHaveLength(1);
  });

  it('registers again after the server has forgotten the client', async () => {
    const { call, signIn, shown, as, begin } = await setUp();
    const { user, fetch } = await begin();
    as.answer(401, '{"error":"invalid_client"}');
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

  it('rejects tokens of another type', async () => {
    const { signIn, begin } = await setUp({
      token: (_form, res) => {
        res.writeHead(200, { 'content-type': 'application/json' }).end('{"access_token":"a","token_type":"mac"}');
        return true;
      },
    });
    const { user } = await begin();
    await expect(signIn(user)).rejects.toMatchObject({ code: 'OAUTH_TOKEN_TYPE_UNSUPPORTED' });
    expect(await user.hasValidTokens()).toBe(false);
  });
});
