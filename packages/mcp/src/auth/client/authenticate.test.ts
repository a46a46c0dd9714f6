import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getDefaultLogger, setDefaultLogger, type QuiverError } from '@quiver/core';
import {
  authenticate,
  createLoopbackProvider,
  createOAuthFetch,
  FileOAuthStorage,
  MCPOAuthClientProvider,
  type MCPOAuthClientProviderOptions,
} from '@quiver/mcp/auth';
import type { MCPClient } from '@quiver/mcp/client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { afterTest, freePort } from '../../../test/after-test.ts';
import { startAuthorizationServer } from '../../../test/oauth/authorization-server.ts';
import { startProtectedServer } from '../../../test/oauth/protected-server.ts';
import { initializeParams, rpc } from '../../../test/clients/wire.ts';
import { clientOf } from '../../../test/clients/client-of.ts';

afterEach(() => void vi.unstubAllEnvs());

async function setUp(toolScopes: Record<string, string[]> = {}) {
  const as = await startAuthorizationServer();
  const mcp = await startProtectedServer({
    authorizationServers: [as.issuer],
    requiredScopes: ['mcp:read'],
    scopesSupported: ['mcp:read'],
    toolScopes,
    validateToken: (token) => ({ valid: as.active.has(token), subject: 'ada', scopes: as.active.get(token) ?? [] }),
  });
  const folder = await mkdtemp(join(tmpdir(), 'quiver-oauth-'));
  afterTest(() => rm(folder, { recursive: true }));
  const path = join(folder, 'tokens.json');
  const redirectUrl = `http://localhost:${await freePort()}/callback`;
  const shown: URL[] = [];
  const provider = (options: Partial<MCPOAuthClientProviderOptions>): MCPOAuthClientProvider =>
    new MCPOAuthClientProvider({ redirectUrl, clientMetadata: { redirect_uris: [redirectUrl] }, ...options });
  const user = provider({
    storage: new FileOAuthStorage({ path }),
    // A browser follows the redirect back to this machine.
    onRedirectToAuthorization: async (url) => {
      shown.push(url);
      await fetch(url);
    },
  });
  return { as, mcp, redirectUrl, path, provider, user, shown };
}

describe('authenticate', () => {
  it('signs in through the browser once, and keeps valid tokens', async () => {
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

  it('requests the scopes that the server names, and others with `scope`', async () => {
    const { mcp, user, shown } = await setUp();
    await authenticate({ provider: user, serverUrl: mcp.url });
    await authenticate({ provider: user, serverUrl: mcp.url, scope: 'mcp:read mcp:write' });
    expect(shown.map((page) => page.searchParams.get('scope'))).toEqual(['mcp:read', 'mcp:read mcp:write']);
  });

  it('refreshes tokens that expired, and shows the page for tokens that the server no longer takes', async () => {
    const { as, mcp, user, shown } = await setUp();
    await authenticate({ provider: user, serverUrl: mcp.url });
    const tokens = await user.tokens();
    await user.saveTokens({ ...tokens, token_type: 'Bearer', access_token: 'old', expires_in: -1 });
    await authenticate({ provider: user, serverUrl: mcp.url });
    expect(as.tokenRequests.at(-1)?.get('grant_type')).toBe('refresh_token');
    expect(shown).toHaveLength(1);
    as.active.clear();
    await authenticate({ provider: user, serverUrl: mcp.url });
    expect(shown).toHaveLength(2);
    expect(as.active.has(String((await user.tokens())?.access_token))).toBe(true);
  });

  it('keeps waiting when a web page sends an error or a code with another state', async () => {
    const { mcp, redirectUrl, user, provider: createProvider } = await setUp();
    const statuses: number[] = [];
    const provider = createProvider({
      onRedirectToAuthorization: async (page) => {
        for (const query of ['error=access_denied', 'code=evil&state=guessed']) {
          statuses.push((await fetch(`${redirectUrl}?${query}`)).status);
        }
        await user.redirectToAuthorization(page);
      },
    });
    await authenticate({ provider, serverUrl: mcp.url });
    expect(statuses).toEqual([400, 400]);
    expect(await provider.hasValidTokens()).toBe(true);
  });

  it('rejects the page of an earlier call, also before its own page is shown', async () => {
    const { mcp, provider: createProvider } = await setUp();
    const earlier: URL[] = [];
    const statuses: number[] = [];
    let isListening = false;
    const provider = createProvider({
      stateGenerator: async () => {
        for (const page of earlier) statuses.push((await fetch(page)).status);
        return crypto.randomUUID();
      },
      onRedirectToAuthorization: async (page) => {
        if (isListening) statuses.push((await fetch(page)).status);
        else earlier.push(page);
      },
    });
    const call = createOAuthFetch({ provider, serverUrl: mcp.url })(mcp.url, { method: 'POST', body: '{}' });
    await expect(call).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    isListening = true;
    await authenticate({ provider, serverUrl: mcp.url });
    expect(statuses).toEqual([400, 200]);
    expect(await provider.hasValidTokens()).toBe(true);
  });

  it('is not disturbed by a call, which shows no other page meanwhile', async () => {
    const { mcp, provider: createProvider } = await setUp();
    const shown: URL[] = [];
    const provider = createProvider({
      onRedirectToAuthorization: async (page) => {
        shown.push(page);
        const call = createOAuthFetch({ provider, serverUrl: mcp.url })(mcp.url, { method: 'POST', body: '{}' });
        await expect(call).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
        await fetch(page);
      },
    });
    await authenticate({ provider, serverUrl: mcp.url });
    expect(shown).toHaveLength(1);
    expect(await provider.hasValidTokens()).toBe(true);
  });

  it('names the callback that failed to show the page', async () => {
    const { mcp, provider: createProvider } = await setUp();
    const failure = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
    const provider = createProvider({ onRedirectToAuthorization: () => Promise.reject(failure) });
    const expected = {
      code: 'OAUTH_SIGN_IN_FAILED',
      message: expect.stringContaining('`onRedirectToAuthorization` failed') as string,
      cause: failure,
    };
    await expect(authenticate({ provider, serverUrl: mcp.url })).rejects.toMatchObject(expected);
    const signedIn = createOAuthFetch({ provider, serverUrl: mcp.url });
    for (let call = 0; call < 2; call += 1) {
      await expect(signedIn(mcp.url, { method: 'POST', body: '{}' })).rejects.toMatchObject(expected);
    }
  });

  it('times out without a response', async () => {
    const { mcp, provider: createProvider } = await setUp();
    const show = vi.fn<(page: URL) => void>();
    const provider = createProvider({ onRedirectToAuthorization: show });
    await expect(authenticate({ provider, serverUrl: mcp.url, timeout: 100 })).rejects.toMatchObject({
      code: 'OAUTH_SIGN_IN_TIMEOUT',
    });
    // The next call need not wait for that page.
    const call = createOAuthFetch({ provider, serverUrl: mcp.url })(mcp.url, { method: 'POST', body: '{}' });
    await expect(call).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    expect(show).toHaveBeenCalledTimes(2);
  });

  it('lets four processes with one storage refresh once', async () => {
    const { as, mcp, redirectUrl, path, user } = await setUp();
    await authenticate({ provider: user, serverUrl: mcp.url });
    as.active.clear();
    const loader = fileURLToPath(new URL('../../../../../scripts/source-hooks.mjs', import.meta.url));
    const program = fileURLToPath(new URL('../../../test/programs/oauth-caller.ts', import.meta.url));
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

describe('MCPClient.authenticate', () => {
  describe("with `auth: 'oauth'` alone", () => {
    /** A client as a new start of the program creates it. */
    async function start(url: string): Promise<MCPClient> {
      const client = clientOf({ notes: { url, auth: 'oauth' } });
      return client;
    }

    /** Signs in with a browser that follows the redirect back to this computer. @returns the logged lines that are not the page */
    async function signIn(client: MCPClient): Promise<string[]> {
      const usual = getDefaultLogger();
      const lines: string[] = [];
      setDefaultLogger({
        ...usual,
        warn: (line) =>
          line.includes('requires you to sign in') ? fetch(/https?:\S+/.exec(line)?.[0] ?? '') : lines.push(line),
      });
      await client.authenticate('notes').finally(() => setDefaultLogger(usual));
      return lines;
    }

    it('signs in at this computer once, also for later starts of the program', async () => {
      const { mcp, as, path } = await setUp();
      vi.stubEnv('XDG_CONFIG_HOME', dirname(path));
      const first = await start(mcp.url);
      expect((await first.listToolsWithErrors()).errorDetails['notes']).toMatchObject({
        code: 'OAUTH_AUTHORIZATION_REQUIRED',
      });
      expect(await signIn(first)).toEqual([]);
      expect(Object.keys(await first.listTools())).toContain('notes_whoami');
      await first.disconnect();
      const second = await start(mcp.url);
      expect(Object.keys(await second.listTools())).toContain('notes_whoami');
      expect(as.tokenRequests).toHaveLength(1);
      const folder = join(dirname(path), 'quiver', 'oauth');
      const tokens = (await readdir(folder)).filter((name) => name.endsWith('.json'));
      expect(tokens).toHaveLength(1);
      expect((await stat(join(folder, tokens[0] as string))).mode & 0o777).toBe(0o600);
    });

    it('has other tokens for another server', async () => {
      const { mcp, path } = await setUp();
      const other = await setUp();
      vi.stubEnv('XDG_CONFIG_HOME', dirname(path));
      await signIn(await start(mcp.url));
      const { errorDetails } = await (await start(other.mcp.url)).listToolsWithErrors();
      expect(errorDetails['notes']).toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    });

    it('keeps the tokens in memory, with one log line, where the folder cannot be written', async () => {
      const { mcp, path } = await setUp();
      await writeFile(path, 'a file in place of the folder');
      vi.stubEnv('XDG_CONFIG_HOME', path);
      const client = await start(mcp.url);
      const lines = await signIn(client);
      expect(Object.keys(await client.listTools())).toContain('notes_whoami');
      expect(lines).toEqual([expect.stringMatching(/The OAuth storage cannot/)]);
    });
  });

  it('signs in right after a rejected call', async () => {
    const { mcp, user, provider: createProvider } = await setUp();
    let isThere = false;
    const provider = createProvider({
      onRedirectToAuthorization: async (page) => {
        if (isThere) await user.redirectToAuthorization(page);
      },
    });
    const client = clientOf({ notes: { url: mcp.url, authProvider: provider } });
    const call = { serverName: 'notes', name: 'whoami' };
    await expect(client.callTool(call)).rejects.toMatchObject({
      code: 'MCP_CLIENT_TOOL_EXECUTION_FAILED',
      details: { reason: 'OAUTH_AUTHORIZATION_REQUIRED' },
    });
    const error = { code: 'OAUTH_AUTHORIZATION_REQUIRED' };
    expect(client.status()['notes']).toMatchObject({ state: 'failed', error });
    expect((await client.listToolsWithErrors()).errorDetails['notes']).toMatchObject(error);
    isThere = true;
    await client.authenticate('notes');
    expect((await client.callTool(call)).isError).not.toBe(true);
  });

  it('steps up with the scopes that the failed call names, and shows no page before', async () => {
    const { mcp, redirectUrl } = await setUp({ secret: ['mcp:write'] });
    const shown: URL[] = [];
    const authProvider = createLoopbackProvider({
      port: Number(new URL(redirectUrl).port),
      onRedirectToAuthorization: async (page) => {
        shown.push(page);
        await fetch(page);
      },
    });
    const client = clientOf({ notes: { url: mcp.url, authProvider } });
    expect((await client.listToolsWithErrors()).errorDetails['notes']).toMatchObject({
      code: 'OAUTH_AUTHORIZATION_REQUIRED',
      message: expect.stringContaining('mcp.authenticate(serverName)') as string,
    });
    expect(shown).toHaveLength(0);
    await client.authenticate('notes');
    const call = { serverName: 'notes', name: 'secret' };
    const error = (await client.callTool(call).catch((failure: unknown) => failure)) as QuiverError;
    expect(error.details).toMatchObject({ reason: 'OAUTH_AUTHORIZATION_REQUIRED' });
    expect(error.message).toContain("mcp.authenticate(serverName, { scope: 'mcp:read mcp:write' })");
    expect(error.cause).toMatchObject({ details: { scope: 'mcp:read mcp:write' } });
    expect(shown).toHaveLength(1);
    await client.authenticate('notes', { scope: 'mcp:read mcp:write' });
    expect((await client.callTool(call)).isError).not.toBe(true);
    expect(shown).toHaveLength(2);
  });

  it('names the missing authProvider', async () => {
    const { mcp } = await setUp();
    const client = clientOf({ notes: { url: mcp.url } });
    await expect(client.authenticate('notes')).rejects.toMatchObject({
      code: 'MCP_CLIENT_AUTHENTICATE_FAILED',
      details: { reason: 'OAUTH_PROVIDER_MISSING' },
    });
  });
});
