import { createClientCredentialsProvider, createOAuthFetch } from '@quiver/mcp/auth';
import { describe, expect, it } from 'vitest';
import { setUp, setUpSignedIn, type Stage } from '../../../test/oauth/oauth-stage.ts';

describe('refreshing', () => {
  it('is shared by clients with one storage', async () => {
    const { as, mcp, call, fetch, provider } = await setUpSignedIn();
    const other = createOAuthFetch({ provider: provider(), serverUrl: mcp.url });
    as.active.clear();
    await Promise.all([call(fetch), call(other), call(fetch), call(other)]);
    expect(as.tokenRequests).toHaveLength(2);
    expect(as.familyRevoked).toBe(false);
  });

  it('turns invalid_grant into one sign-in, and deletes only the tokens it used', async () => {
    const { as, call, fetch, shown, user } = await setUpSignedIn();
    as.active.clear();
    as.answer(400, '{"error":"invalid_grant"}');
    const answers = await Promise.allSettled(Array.from({ length: 6 }, () => call(fetch)));
    expect(answers.every(({ status }) => status === 'rejected')).toBe(true);
    expect(shown).toHaveLength(2);
    expect(await user.tokens()).toBeUndefined();
  });

  it('keeps newer tokens that another process has stored meanwhile', async () => {
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
  ])('keeps the tokens through %s, tries again, and shows no page', async (_what, status, body) => {
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

  it('keeps the refresh token when the response contains no new one', async () => {
    const { as, call, fetch, user } = await setUpSignedIn({ keepsRefreshToken: true });
    const before = (await user.tokens())?.refresh_token;
    as.active.clear();
    expect((await call(fetch)).status).toBe(200);
    expect((await user.tokens())?.refresh_token).toBe(before);
    as.active.clear();
    expect((await call(fetch)).status).toBe(200);
  });

  it('names a resource without a path as it was named on the sign-in page', async () => {
    const { as, mcp, call, fetch, user } = await setUpSignedIn();
    const discovered = await user.discoveryState();
    if (!discovered) throw new Error('Nothing was discovered.');
    await user.saveDiscoveryState({ ...discovered, resourceMetadata: { resource: mcp.origin } });
    as.active.clear();
    await call(fetch);
    expect(as.tokenRequests.at(-1)?.get('resource')).toBe(mcp.origin);
  });
});

describe('more scopes', () => {
  it('requests the union once, and repeats the call with the new token', async () => {
    const { call, fetch, shown, signIn, user, as } = await setUpSignedIn();
    await expect(call(fetch, 'secret')).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    expect(shown.at(-1)?.searchParams.get('scope')).toBe('mcp:read mcp:write');
    await signIn(user);
    expect((await user.tokens())?.scope).toBe('mcp:read mcp:write');
    expect((await call(fetch, 'secret')).status).not.toBe(403);
    expect(as.authorizeRequests).toHaveLength(2);
  });

  it('returns the 403 when the new token does not suffice either', async () => {
    const { callWith, as } = await setUp();
    let grants = 0;
    as.knobs.token = (_form, res) => {
      grants += 1;
      as.active.set(`t${grants}`, ['mcp:read']);
      const tokens = { access_token: `t${grants}`, token_type: 'Bearer', scope: 'mcp:read' };
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(tokens));
      return true;
    };
    const provider = createClientCredentialsProvider({ clientId: 'bot', clientSecret: 's' });
    const answer = await callWith(provider, 'secret');
    expect([answer.status, grants]).toEqual([403, 2]);
  });

  it('requests scopes that are not granted once, and returns the 403 from then on', async () => {
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

  it('requests scopes that are not granted once, also after a refresh', async () => {
    const { call, fetch, shown, signIn, user, as } = await setUpSignedIn();
    await expect(call(fetch, 'secret')).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    let issued = 0;
    as.knobs.token = (_form, res) => {
      as.active.set(`less${(issued += 1)}`, ['mcp:read']);
      const tokens = { access_token: `less${issued}`, token_type: 'Bearer', scope: 'mcp:read', refresh_token: 'r' };
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(tokens));
      return true;
    };
    await signIn(user);
    as.active.clear();
    expect((await call(fetch, 'secret')).status).toBe(403);
    expect([issued, shown.length]).toEqual([2, 2]);
  });

  it('refreshes while the page for more scopes awaits its user', async () => {
    const { call, fetch, as } = await setUpSignedIn();
    await expect(call(fetch, 'secret')).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    as.active.clear();
    expect((await call(fetch)).status).toBe(200);
  });

  /** A server that requires the scope in the query from callers with a token. */
  const demanding =
    ({ as, mcp }: Stage) =>
    async (url: string | URL, init?: RequestInit): Promise<Response> => {
      const token = new Headers(init?.headers).get('authorization')?.slice('Bearer '.length);
      const scope = new URL(url).searchParams.get('scope');
      if (!String(url).startsWith(mcp.url) || token === undefined || scope === null) return globalThis.fetch(url, init);
      if (as.active.get(token)?.includes(scope)) return new Response(scope);
      const challenge = `Bearer error="insufficient_scope", scope="${scope}"`;
      return new Response(null, { status: 403, headers: { 'www-authenticate': challenge } });
    };

  it('shows one page to calls that need different scopes, however many the server invents', async () => {
    const stage = await setUpSignedIn();
    const { mcp, user, shown } = stage;
    const fetch = createOAuthFetch({ provider: user, serverUrl: mcp.url, serverFetch: demanding(stage) });
    const call = (scope: string): Promise<unknown> =>
      fetch(`${mcp.url}?scope=${scope}`).catch(({ code }: { code: unknown }) => code);
    const outcomes = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(call));
    outcomes.push(await call('f'));
    expect(new Set(outcomes)).toEqual(new Set(['OAUTH_AUTHORIZATION_REQUIRED']));
    expect(shown).toHaveLength(2);
  });

  it('gets different scopes at the same time where no page is needed', async () => {
    const stage = await setUp();
    const { mcp } = stage;
    const provider = createClientCredentialsProvider({ clientId: 'bot', clientSecret: 's3cr3t' });
    const fetch = createOAuthFetch({ provider, serverUrl: mcp.url, serverFetch: demanding(stage) });
    expect((await fetch(`${mcp.url}?scope=mcp:read`)).status).toBe(200);
    const answers = await Promise.all(['a', 'b', 'c'].map((scope) => fetch(`${mcp.url}?scope=${scope}`)));
    expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(['a', 'b', 'c']);
  });
});
