import {
  createClientCredentialsProvider,
  createIntrospectionValidator,
  createJwtValidator,
  createOAuthFetch,
  finishAuthorization,
  MCPOAuthClientProvider,
  type TokenValidator,
} from '@quiver/mcp/auth';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { afterTest } from '../../test/after-test.ts';
import { clientOf } from '../../test/clients/client-of.ts';
import { startOidcServer, visit } from '../../test/oauth/oidc-server.ts';
import { startProtectedServer, type ProtectedServer } from '../../test/oauth/protected-server.ts';
import { readCallback } from '../../test/oauth/oauth-stage.ts';

const redirectUrl = 'http://localhost:3999/callback';

const validators: Record<'jwt' | 'opaque', (issuer: string) => TokenValidator> = {
  jwt: (issuer) => createJwtValidator({ issuer, jwksUri: `${issuer}/jwks`, clockTolerance: 0 }),
  opaque: (issuer) =>
    createIntrospectionValidator(`${issuer}/token/introspection`, {
      clientId: 'mcp-server',
      clientSecret: 'secret',
      cacheTtl: 0,
      clockTolerance: 0,
    }),
};

async function setUp(format: 'jwt' | 'opaque', accessTokenTtl = 3600) {
  const resources: string[] = [];
  const oidc = await startOidcServer({ resources: () => resources, accessTokenTtl, format });
  const mcp = await startProtectedServer({
    authorizationServers: [oidc.issuer],
    requiredScopes: ['mcp:read'],
    scopesSupported: ['mcp:read'],
    toolScopes: { secret: ['mcp:write'] },
    validateToken: validators[format](oidc.issuer),
  });
  resources.push(mcp.url);
  const shown: URL[] = [];
  const user = new MCPOAuthClientProvider({
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl], application_type: 'native', client_name: 'Test' },
    onRedirectToAuthorization: (url) => void shown.push(url),
  });
  const fetch = createOAuthFetch({ provider: user, serverUrl: mcp.url });
  afterTest(oidc.close);
  const client = clientOf({ mcp: { url: mcp.url, fetch } });
  const signIn = async (): Promise<void> => {
    const page = shown.at(-1);
    if (!page) throw new Error('No sign-in page was shown.');
    await finishAuthorization({ provider: user, serverUrl: mcp.url, callback: readCallback(await visit(page)) });
  };
  return { oidc, shown, user, client, signIn };
}

type Stage = Awaited<ReturnType<typeof setUp>>;

async function call({ client }: Stage, tool: string): Promise<string> {
  const tools = await client.listTools();
  return JSON.stringify(await tools[`mcp_${tool}`]?.execute?.({}, {} as never));
}

describe.each(['jwt', 'opaque'] as const)('with oidc-provider and %s tokens', (format) => {
  it('signs in, calls, and passes the caller to the tool', async () => {
    const stage = await setUp(format);
    const { errors } = await stage.client.listToolsWithErrors();
    expect(Object.keys(errors)).toEqual(['mcp']);
    expect(stage.shown).toHaveLength(1);
    await stage.signIn();
    await stage.client.disconnect();
    expect(await call(stage, 'whoami')).toContain('ada');
    expect(stage.oidc.grants).toEqual(['authorization_code']);
  });

  it('refreshes an expired token once for parallel calls, with rotation', async () => {
    const stage = await setUp(format, 60);
    await stage.client.listToolsWithErrors();
    await stage.signIn();
    const before = await stage.user.tokens();
    await stage.client.disconnect();
    await call(stage, 'whoami');
    vi.setSystemTime(Date.now() + 600_000);
    onTestFinished(() => void vi.useRealTimers());
    const answers = await Promise.all([1, 2, 3, 4].map(() => call(stage, 'whoami')));
    expect(answers.every((answer) => answer.includes('ada'))).toBe(true);
    expect(stage.oidc.grants.filter((grant) => grant === 'refresh_token')).toHaveLength(1);
    expect((await stage.user.tokens())?.refresh_token).not.toBe(before?.refresh_token);
    expect(stage.shown).toHaveLength(1);
  });

  it('steps up to a wider scope when a tool needs it', async () => {
    const stage = await setUp(format);
    await stage.client.listToolsWithErrors();
    await stage.signIn();
    await stage.client.disconnect();
    await expect(call(stage, 'secret')).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    expect(stage.shown.at(-1)?.searchParams.get('scope')?.split(' ')).toEqual(
      expect.arrayContaining(['mcp:read', 'mcp:write']),
    );
    await stage.signIn();
    expect(await call(stage, 'secret')).toContain('42');
  });
});

describe('with oidc-provider', () => {
  it('requires one sign-in after the grant was revoked', async () => {
    const stage = await setUp('opaque');
    await stage.client.listToolsWithErrors();
    await stage.signIn();
    await stage.client.disconnect();
    await call(stage, 'whoami');
    const tokens = await stage.user.tokens();
    const information = await stage.user.clientInformation({ issuer: stage.oidc.issuer });
    const form = new URLSearchParams({ token: String(tokens?.refresh_token) });
    const secret = (information as { client_secret?: string }).client_secret;
    const revoked = await fetch(`${stage.oidc.issuer}/token/revocation`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${information?.client_id}:${secret}`)}` },
      body: form,
    });
    expect(revoked.status).toBe(200);
    const calls = await Promise.allSettled([1, 2, 3].map(() => call(stage, 'whoami')));
    expect(calls.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(stage.shown).toHaveLength(2);
    await stage.signIn();
    expect(await call(stage, 'whoami')).toContain('ada');
  });

  it('rejects a valid token that was issued for another server', async () => {
    const resources: string[] = [];
    const oidc = await startOidcServer({ resources: () => resources, accessTokenTtl: 60, format: 'jwt' });
    const start = (): Promise<ProtectedServer> =>
      startProtectedServer({ authorizationServers: [oidc.issuer], validateToken: validators.jwt(oidc.issuer) });
    const [mine, other] = [await start(), await start()];
    afterTest(oidc.close);
    resources.push(mine.url, other.url);
    const provider = createClientCredentialsProvider({
      clientId: 'bot',
      clientSecret: 'bot-secret',
      scope: 'mcp:read',
    });
    const granted = await createOAuthFetch({ provider, serverUrl: mine.url })(mine.url, { method: 'POST', body: '{}' });
    expect(granted.status).not.toBe(401);
    const token = (await provider.tokens())?.access_token;
    const refused = await fetch(other.url, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    expect(refused.status).toBe(401);
  });
});
