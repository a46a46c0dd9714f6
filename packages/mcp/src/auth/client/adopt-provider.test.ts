// Providers for the official SDK, typed by its interface.
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { createOAuthFetch, finishAuthorization } from '@quiver/mcp/auth';
import { MCPClient } from '@quiver/mcp/client';
import { expect, it } from 'vitest';
import { clientMetadata, redirectUrl, setUp } from '../../../test/oauth-stage.ts';

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

it('signs in, refreshes and serves with a provider for the SDK', async () => {
  const { as, mcp, call } = await setUp();
  const provider = new SdkProvider();
  const fetch = createOAuthFetch({ provider, serverUrl: mcp.url });
  await expect(call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
  const answer = await globalThis.fetch(String(provider.shown[0]), { redirect: 'manual' });
  const { searchParams } = new URL(String(answer.headers.get('location')));
  const [code = '', state, iss = ''] = ['code', 'state', 'iss'].map((name) => searchParams.get(name) ?? undefined);
  await finishAuthorization({ provider, serverUrl: mcp.url, callback: { code, state, iss } });
  expect(provider.stored?.access_token).toBeDefined();
  expect((await call(fetch)).status).toBe(200);
  as.active.clear();
  expect((await call(fetch)).status).toBe(200);
  expect(as.tokenRequests.at(-1)?.get('grant_type')).toBe('refresh_token');
  expect(as.registrations).toHaveLength(1);

  await using client = new MCPClient({
    id: 'sdk-provider',
    servers: { mcp: { url: mcp.url, authProvider: provider } },
  });
  expect(Object.keys(await client.listTools())).toContain('mcp_whoami');
});
