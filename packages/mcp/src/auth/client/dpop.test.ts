// With oidc-provider as the authorization server, and a resource server that checks proofs with oauth4webapi.
import { finishAuthorization, InMemoryOAuthStorage, MCPOAuthClientProvider } from '@quiver/mcp/auth';
import { allowInsecureRequests, validateJwtAccessToken } from 'oauth4webapi';
import { describe, expect, it } from 'vitest';
import { afterTest, serveHttp } from '../../../test/after-test.ts';
import { readCallback, redirectUrl } from '../../../test/oauth/oauth-stage.ts';
import { startOidcServer, visit } from '../../../test/oauth/oidc-server.ts';
import { nodeSend } from '../../http/node-send.js';
import { HttpCall } from '../../http/send.js';
import { withAuthorization } from './with-authorization.js';

/** Answers requests with a valid proof; others learn the metadata, and the nonce if there is one. */
async function setUp({ nonce, accessTokenTtl = 60 }: { nonce?: string; accessTokenTtl?: number } = {}) {
  const resources: string[] = [];
  const oidc = await startOidcServer({ resources: () => resources, accessTokenTtl, format: 'jwt' });
  const schemes: string[] = [];
  const { origin } = await serveHttp(async (req, res) => {
    if (req.url?.startsWith('/.well-known/oauth-protected-resource')) {
      const metadata = { resource: url.href, authorization_servers: [oidc.issuer], scopes_supported: ['mcp:read'] };
      return void res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(metadata));
    }
    req.resume();
    const { authorization = '', dpop } = req.headers;
    schemes.push(authorization.split(' ')[0] ?? '');
    const proof = String(dpop ?? '').split('.')[1] ?? '';
    const claims = JSON.parse(Buffer.from(proof, 'base64url').toString() || '{}') as { nonce?: string };
    if (dpop !== undefined && nonce !== undefined && claims.nonce !== nonce) {
      const challenge = { 'www-authenticate': 'DPoP error="use_dpop_nonce"', 'dpop-nonce': nonce };
      return void res.writeHead(401, challenge).end();
    }
    try {
      const headers = { authorization, ...(dpop !== undefined && { dpop: String(dpop) }) };
      const request = new Request(url, { method: String(req.method), headers });
      const as = { issuer: oidc.issuer, jwks_uri: `${oidc.issuer}/jwks` };
      const options = { requireDPoP: true, [allowInsecureRequests]: true };
      const { sub } = await validateJwtAccessToken(as, request, url.href, options);
      res.end(sub);
    } catch {
      res.writeHead(401, { 'www-authenticate': 'DPoP error="invalid_token", algs="ES256"' }).end();
    }
  });
  afterTest(oidc.close);
  const url = new URL(`${origin}/mcp`);
  resources.push(url.href);
  const shown: URL[] = [];
  const storage = new InMemoryOAuthStorage();
  return {
    url,
    storage,
    shown,
    schemes,
    grants: oidc.grants,
    connect: ({ dpop = true } = {}) => {
      const provider = new MCPOAuthClientProvider({
        redirectUrl,
        clientMetadata: {
          redirect_uris: [redirectUrl],
          application_type: 'native',
          token_endpoint_auth_method: 'none',
        },
        storage,
        dpop,
        onRedirectToAuthorization: (page) => void shown.push(page),
      });
      return { provider, send: withAuthorization(nodeSend, { provider, serverUrl: url }) };
    },
    signIn: async (provider: MCPOAuthClientProvider): Promise<void> => {
      const page = shown.at(-1);
      if (!page) throw new Error('No sign-in page was shown.');
      await finishAuthorization({ provider, serverUrl: url, callback: readCallback(await visit(page)) });
    },
  };
}

const call = (): HttpCall => new HttpCall('POST', { 'content-type': 'application/json' }, '{}');

describe('DPoP', () => {
  it.each([undefined, 'nonce-1'])(
    'binds the token to a key and sends a proof with every request, nonce %s',
    async (nonce) => {
      const { url, connect, signIn, storage, schemes } = await setUp(nonce === undefined ? {} : { nonce });
      const { provider, send } = connect();
      await expect(send(url, call())).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
      await signIn(provider);
      expect(await provider.tokens()).toMatchObject({ token_type: 'dpop' });
      const bodies = await Promise.all([1, 2, 3].map(async () => (await send(url, call())).text()));
      expect(bodies).toEqual(['ada', 'ada', 'ada']);
      expect(new Set(schemes.slice(1))).toEqual(new Set(['DPoP']));
      // The key outlives the program, as the tokens do.
      const later = connect();
      expect(await (await later.send(url, call())).text()).toBe('ada');
      expect(storage.get(`dpop_key:${url.href}`)).toContain('"kty":"EC"');
      await provider.clear();
      expect(storage.get(`dpop_key:${url.href}`)).toBeUndefined();
    },
  );

  it('refreshes a bound token with the same key', async () => {
    const { url, connect, signIn, grants } = await setUp({ accessTokenTtl: 1 });
    const { provider, send } = connect();
    await expect(send(url, call())).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    await signIn(provider);
    const { access_token: first } = (await provider.tokens()) ?? {};
    await expect.poll(async () => provider.hasValidTokens()).toBe(false);
    expect(await (await connect().send(url, call())).text()).toBe('ada');
    expect((await provider.tokens())?.access_token).not.toBe(first);
    expect(grants).toEqual(['authorization_code', 'refresh_token']);
  });

  it('is off by default', async () => {
    const { url, connect, signIn } = await setUp();
    const { provider, send } = connect({ dpop: false });
    await expect(send(url, call())).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    await signIn(provider);
    expect(await provider.tokens()).toMatchObject({ token_type: 'bearer' });
  });
});
