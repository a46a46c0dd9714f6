// Providers for the official SDK, typed by its interface.
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { createOAuthFetch, finishAuthorization, MCPOAuthClientProvider } from '@quiver/mcp/auth';
import { expect, it, vi } from 'vitest';
import { startAuthorizationServer } from '../../../test/oauth/authorization-server.ts';
import { clientMetadata, readCallback, redirectUrl, setUp } from '../../../test/oauth/oauth-stage.ts';
import { clientOf } from '../../../test/clients/client-of.ts';

class SdkProvider implements OAuthClientProvider {
  readonly redirectUrl: string = redirectUrl;
  readonly clientMetadata: typeof clientMetadata = clientMetadata;
  readonly shown: URL[] = [];
  stored: StoredOAuthTokens | undefined;
  #information: StoredOAuthClientInformation | undefined;
  #verifier = '';
  discovered: OAuthDiscoveryState | undefined;

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.#information;
  }

  saveClientInformation(information: StoredOAuthClientInformation): void {
    this.#information = information;
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.stored;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.stored = tokens;
  }

  redirectToAuthorization(page: URL): void {
    this.shown.push(page);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }
}

async function signIn(provider: SdkProvider, serverUrl: string): Promise<void> {
  const answer = await globalThis.fetch(String(provider.shown.at(-1)), { redirect: 'manual' });
  const callback = readCallback(new URL(String(answer.headers.get('location'))));
  await finishAuthorization({ provider, serverUrl, callback });
}

it('signs in, refreshes and serves with a provider for the SDK', async () => {
  const { as, mcp, call } = await setUp();
  const provider = new SdkProvider();
  const fetch = createOAuthFetch({ provider, serverUrl: mcp.url });
  await expect(call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
  await signIn(provider, mcp.url);
  expect(provider.stored?.access_token).toBeDefined();
  expect((await call(fetch)).status).toBe(200);
  as.active.clear();
  expect((await call(fetch)).status).toBe(200);
  expect(as.tokenRequests.at(-1)?.get('grant_type')).toBe('refresh_token');
  expect(as.registrations).toHaveLength(1);

  const client = clientOf({ mcp: { url: mcp.url, authProvider: provider } });
  expect(Object.keys(await client.listTools())).toContain('mcp_whoami');
});

it('shows the page at the next call when the provider could not store the verifier', async () => {
  const { mcp, call } = await setUp();
  const provider = new SdkProvider();
  const save = vi.spyOn(provider, 'saveCodeVerifier').mockImplementationOnce(() => {
    throw new Error('the disk is full');
  });
  const fetch = createOAuthFetch({ provider, serverUrl: mcp.url });
  await expect(call(fetch)).rejects.toMatchObject({ code: 'OAUTH_SIGN_IN_FAILED' });
  expect(provider.shown).toHaveLength(0);
  await expect(call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
  expect(provider.shown).toHaveLength(1);
  expect(save).toHaveBeenCalledTimes(2);
});

it('uses a provider of a program in JavaScript that has no user and no page', async () => {
  const { as, mcp, call } = await setUp();
  let stored: StoredOAuthTokens | undefined;
  const provider = {
    redirectUrl: undefined,
    clientMetadata: { redirect_uris: [] },
    clientInformation: () => ({ client_id: 'robot', client_secret: 'secret' }),
    tokens: () => stored,
    saveTokens: (tokens: StoredOAuthTokens) => void (stored = tokens),
  } as Partial<OAuthClientProvider> as OAuthClientProvider;
  const fetch = createOAuthFetch({ provider, serverUrl: mcp.url });
  expect((await call(fetch)).status).toBe(200);
  expect(as.tokenRequests.at(-1)?.get('grant_type')).toBe('client_credentials');
});

it('shows the page by the method that a provider has at that time', async () => {
  const { mcp, call } = await setUp();
  const provider = new SdkProvider();
  const fetch = createOAuthFetch({ provider, serverUrl: mcp.url });
  const show = vi.spyOn(provider, 'redirectToAuthorization');
  await expect(call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
  expect(show).toHaveBeenCalledOnce();
});

it('gives a provider no undefined members to store', async () => {
  const { as, mcp, call } = await setUp();
  const provider = new SdkProvider();
  const fetch = createOAuthFetch({ provider, serverUrl: mcp.url });
  await expect(call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
  await signIn(provider, mcp.url);
  const { access_token = '', token_type = '', refresh_token = '' } = provider.stored ?? {};
  provider.stored = { access_token, token_type, refresh_token };
  as.active.clear();
  expect((await call(fetch)).status).toBe(200);
  expect(provider.stored).toHaveProperty('expires_in');
  expect(Object.values(provider.stored)).not.toContain(undefined);
});

it('sends the refresh token of a provider that stores no issuer to no other authorization server', async () => {
  const { as, mcp, call } = await setUp();
  const evil = await startAuthorizationServer();
  class OldProvider extends SdkProvider {
    override saveTokens({ issuer: _, ...tokens }: StoredOAuthTokens): void {
      super.saveTokens(tokens);
    }
  }
  const provider = new OldProvider();
  let isHostile = false;
  const fetch = createOAuthFetch({
    provider,
    serverUrl: mcp.url,
    serverFetch: async (url, init) => {
      if (!isHostile) return globalThis.fetch(url, init);
      if (!String(url).includes('/.well-known/')) {
        const [status, error] = as.active.size > 0 ? [403, 'insufficient_scope'] : [401, 'invalid_token'];
        const headers = { 'www-authenticate': `Bearer error="${error}", scope="more"` };
        return new Response(null, { status: Number(status), headers });
      }
      return Response.json({ resource: mcp.url, authorization_servers: [evil.issuer] });
    },
  });
  await expect(call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
  await signIn(provider, mcp.url);
  as.active.clear();
  expect((await call(fetch)).status).toBe(200);
  isHostile = true;
  await expect(call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
  as.active.clear();
  await expect(call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
  expect(evil.registrations.length).toBeGreaterThan(0);
  expect(evil.tokenRequests).toHaveLength(0);
});

it('calls what a subclass of our provider overrides', async () => {
  const { mcp, call } = await setUp();
  const shown: URL[] = [];
  class OwnPage extends MCPOAuthClientProvider {
    override async redirectToAuthorization(page: URL): Promise<void> {
      shown.push(page);
    }
  }
  const fetch = createOAuthFetch({ provider: new OwnPage({ redirectUrl, clientMetadata }), serverUrl: mcp.url });
  await expect(call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
  expect(shown).toHaveLength(1);
});
