import { createSimpleTokenProvider } from '@quiver/mcp/auth';
import { describe, expect, it } from 'vitest';
import { clientMetadata, redirectUrl, setUp } from '../../../test/oauth/oauth-stage.ts';
import { clientOf } from '../../../test/clients/client-of.ts';

describe('createSimpleTokenProvider', () => {
  it('sends its token, and reports whether it has expired', async () => {
    const { as, callWith } = await setUp();
    as.active.set('given', ['mcp:read']);
    const provider = createSimpleTokenProvider('given', { redirectUrl, clientMetadata });
    expect((await callWith(provider)).status).toBe(200);
    expect(await provider.hasValidTokens()).toBe(true);
    const expired = createSimpleTokenProvider('given', { redirectUrl, clientMetadata, expiresIn: -1 });
    expect(await expired.hasValidTokens()).toBe(false);
  });

  it('serves the authProvider of MCPClient', async () => {
    const { as, mcp } = await setUp();
    as.active.set('given', ['mcp:read']);
    const authProvider = createSimpleTokenProvider('given', { redirectUrl, clientMetadata });
    const client = clientOf({ mcp: { url: mcp.url, authProvider } });
    expect(Object.keys(await client.listTools())).toContain('mcp_whoami');
  });

  it('reports the rejected token and the host at which the sign-in failed', async () => {
    const { as, mcp } = await setUp();
    as.http.closeAllConnections();
    as.http.close();
    const authProvider = createSimpleTokenProvider('wrong', { redirectUrl, clientMetadata });
    const client = clientOf({ mcp: { url: mcp.url, authProvider } });
    const { errors } = await client.listToolsWithErrors();
    expect(errors['mcp']).toContain('was refused or has expired. Cannot fetch the OAuth metadata of');
    expect(errors['mcp']).toContain(`${new URL(as.issuer).origin} (ECONNREFUSED)`);
    expect(errors['mcp']).not.toContain('wrong');
  });

  it('is optional: a provider without tokens signs in and serves', async () => {
    const { mcp, provider, signIn, as } = await setUp();
    const authProvider = provider();
    const client = clientOf({ mcp: { url: mcp.url, authProvider } });
    expect(Object.keys((await client.listToolsWithErrors()).errors)).toEqual(['mcp']);
    await signIn(authProvider);
    expect(Object.keys(await client.listTools())).toContain('mcp_whoami');
    expect(as.tokenRequests).toHaveLength(1);
  });
});
