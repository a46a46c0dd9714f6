import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { authenticate, createOAuthFetch, FileOAuthStorage, MCPOAuthClientProvider } from '@quiver/mcp/auth';
import { afterEach, describe, expect, it } from 'vitest';
import { startAuthorizationServer, type AuthorizationServer } from '../../../test/authorization-server.ts';
import { startProtectedServer, type ProtectedServer } from '../../../test/protected-server.ts';
import { initializeParams, rpc } from '../../../test/wire.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function setUp(): Promise<{
  as: AuthorizationServer;
  mcp: ProtectedServer;
  redirectUrl: string;
  path: string;
  user: MCPOAuthClientProvider;
  shown: URL[];
}> {
  const as = await startAuthorizationServer();
  const mcp = await startProtectedServer({
    authorizationServers: [as.issuer],
    validateToken: (token) => (as.active.has(token) ? { valid: true, subject: 'ada' } : { valid: false }),
  });
  const folder = await mkdtemp(join(tmpdir(), 'quiver-oauth-'));
  closers.push(mcp.close, as.close, () => rm(folder, { recursive: true }));
  const path = join(folder, 'tokens.json');
  const redirectUrl = `http://localhost:${await freePort()}/callback`;
  const shown: URL[] = [];
  const user = new MCPOAuthClientProvider({
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl] },
    storage: new FileOAuthStorage({ path }),
    // A browser follows the redirect back to this machine.
    onRedirectToAuthorization: async (url) => {
      shown.push(url);
      await fetch(url);
    },
  });
  return { as, mcp, redirectUrl, path, user, shown };
}

describe('authenticate', () => {
  it('signs in through the browser once, and leaves good tokens alone', async () => {
    const { mcp, user, shown } = await setUp();
    await authenticate({ provider: user, serverUrl: mcp.url });
    expect(await user.hasValidTokens()).toBe(true);
    await authenticate({ provider: user, serverUrl: mcp.url });
    expect(shown).toHaveLength(1);
    const answer = await createOAuthFetch({ provider: user, serverUrl: mcp.url })(mcp.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify(rpc('initialize', initializeParams)),
    });
    expect(answer.status).toBe(200);
  });

  it('gives up when nobody comes back', async () => {
    const { mcp, redirectUrl } = await setUp();
    const provider = new MCPOAuthClientProvider({
      redirectUrl,
      clientMetadata: { redirect_uris: [redirectUrl] },
      onRedirectToAuthorization: () => {},
    });
    await expect(authenticate({ provider, serverUrl: mcp.url, timeout: 100 })).rejects.toMatchObject({
      code: 'OAUTH_SIGN_IN_TIMEOUT',
    });
  });

  it('OC02 lets four processes with one storage refresh once', async () => {
    const { as, mcp, redirectUrl, path, user } = await setUp();
    await authenticate({ provider: user, serverUrl: mcp.url });
    as.active.clear();
    const loader = fileURLToPath(new URL('../../../../../scripts/source-hooks.mjs', import.meta.url));
    const program = fileURLToPath(new URL('../../../test/oauth-caller.ts', import.meta.url));
    const run = (): Promise<number | null> =>
      new Promise((resolve) => {
        const args = ['--conditions=@quiver/source', '--import', loader, program, mcp.url, path, redirectUrl];
        spawn(process.execPath, args, { stdio: 'inherit' }).on('close', resolve);
      });
    expect(await Promise.all([run(), run(), run(), run()])).toEqual([0, 0, 0, 0]);
    expect(as.tokenRequests.filter((form) => form.get('grant_type') === 'refresh_token')).toHaveLength(1);
    expect(as.familyRevoked).toBe(false);
  });
});
