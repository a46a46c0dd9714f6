import assert from 'node:assert/strict';
import { createServer, type AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { MCPOAuthClientProvider } from '@quiver/mcp/auth';
import { MCPClient } from '@quiver/mcp/client';
import { startOAuthProxy } from '../src/oauth-proxy.ts';
import { startProtectedServer } from '../src/protected-server.ts';
import { startStandIn, type StandIn } from './stand-in.ts';

const issuer = `http://127.0.0.1:${await freePort()}`;
const resource = `http://127.0.0.1:${await freePort()}/mcp`;
const redirectUrl = `http://localhost:${await freePort()}/callback`;
const closers: { close(): Promise<void> }[] = [];
let github: StandIn;
let google: StandIn;

before(async () => {
  github = await startStandIn(`${issuer}/callback/github`, 'id', { id: 1815, login: 'ada' });
  google = await startStandIn(`${issuer}/callback/google`, 'sub', { sub: '1906' });
  const providers = { github: github.provider, google: google.provider };
  closers.push(github, google, await startOAuthProxy({ issuer, resource, providers }));
  closers.push(await startProtectedServer(resource, issuer));
});
after(async () => {
  for (const { close } of closers.toReversed()) await close();
});

/** A browser with cookies and their paths. It stops at the first answer that is not a redirect, or outside of the issuer and providers. */
class Browser {
  readonly #cookies = new Map<string, { value: string; origin: string; path: string }>();
  /** Every URL that was visited. */
  readonly visited: URL[] = [];

  async open(page: URL, method = 'GET'): Promise<{ url: URL; status: number; text: string }> {
    this.visited.push(page);
    const cookie = [...this.#cookies]
      .filter(([, { origin, path }]) => origin === page.origin && page.pathname.startsWith(path))
      .map(([key, { value }]) => `${key.split(' ')[0]}=${value}`)
      .join('; ');
    const response = await fetch(page, { method, redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const path = /path=([^;]+)/i.exec(line)?.[1] ?? '/';
      this.#cookies.set(`${name} ${path}`, { value, origin: page.origin, path });
    }
    const location = response.headers.get('location');
    if (location === null) return { url: page, status: response.status, text: await response.text() };
    return this.open(new URL(location, page));
  }

  /** Opens a page, and presses the buttons with these steps, one on each page. Ends at the callback of the MCP client. */
  async press(page: URL, ...steps: string[]): Promise<string[]> {
    const texts: string[] = [];
    let shown = await this.open(page);
    for (const step of steps) {
      texts.push(shown.text);
      const action = new RegExp(`action="([^"]+/${step})"`).exec(shown.text)?.[1];
      assert.ok(action, `The page has no button for ${step}: ${shown.status} ${shown.text}`);
      shown = await this.open(new URL(action, page), 'POST');
    }
    assert.notEqual(shown.url.origin, issuer, shown.text);
    return texts;
  }
}

/** Signs in with a client that registers itself, and returns what the tool says of the user, with the pages that were shown. */
async function signIn(browser: Browser, name: string, ...steps: string[]): Promise<{ user: unknown; pages: string[] }> {
  let pages: string[] = [];
  const authProvider = new MCPOAuthClientProvider({
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl], application_type: 'native', client_name: name },
    onRedirectToAuthorization: async (page) => {
      pages = await browser.press(page, ...steps);
    },
  });
  const client = new MCPClient({ id: name, servers: { here: { url: resource, authProvider } } });
  try {
    await client.authenticate('here');
    const { here_whoAmI: whoAmI } = await client.listTools();
    return { user: await whoAmI?.execute?.({}, {}), pages };
  } finally {
    await client.disconnect();
  }
}

test('signs users of two providers in, each with a separate ID', async () => {
  const ada = await signIn(new Browser(), 'First', 'sign-in/github', 'allow');
  assert.deepEqual(ada.user, { user: 'github:1815' });
  const grace = await signIn(new Browser(), 'Second', 'sign-in/google', 'allow');
  assert.deepEqual(grace.user, { user: 'google:1906' });
});

test('asks before it sends a user to the provider, and for every client again', async () => {
  const browser = new Browser();
  const first = await signIn(browser, '<b>Editor</b>', 'sign-in/github', 'allow');
  assert.match(first.pages[0] ?? '', /&#60;b&#62;Editor/);
  assert.ok(first.pages[0]?.includes(redirectUrl));
  const visits = browser.visited.length;
  const second = await signIn(browser, 'Another client', 'allow');
  assert.match(second.pages[0] ?? '', /Another client/);
  assert.ok(!browser.visited.slice(visits).some(({ origin }) => origin === github.provider.server.issuer));
});

test('gives no token of a provider to clients, and the MCP server accepts none', async () => {
  const browser = new Browser();
  await signIn(browser, 'Client', 'sign-in/github', 'allow');
  const token = github.tokens.at(-1) ?? '';
  assert.ok(token !== '' && !browser.visited.some(({ href }) => href.includes(token)));
  const refused = await fetch(resource, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
  assert.equal(refused.status, 401);
});

test('tells the client that the user refused', async () => {
  await assert.rejects(signIn(new Browser(), 'Client', 'deny'), /access_denied/);
  await assert.rejects(signIn(new Browser(), 'Client', 'sign-in/google', 'deny'), /access_denied/);
});

test('refuses a redirect URI that is not registered, character by character, and another resource', async () => {
  const { client_id: clientId } = await register();
  for (const change of [
    { redirect_uri: 'https://client.example/callback/' },
    { redirect_uri: 'https://client.example/callback?next=https://evil.example' },
    { redirect_uri: 'https://evil.example/callback' },
  ]) {
    const { status, url } = await new Browser().open(authorization(clientId, change));
    assert.deepEqual([status, url.origin], [400, issuer]);
  }
  const other = authorization(clientId, { resource: 'https://other.example/mcp' });
  const answer = await fetch(other, { redirect: 'manual' });
  assert.match(answer.headers.get('location') ?? '', /^https:\/\/client\.example\/callback\?error=invalid_target/);
});

test('refuses the return of a provider in another browser, at another provider, with another state, and a second time', async () => {
  const { client_id: clientId } = await register();
  const begin = async (): Promise<{ browser: Browser; callback: URL }> => {
    const browser = new Browser();
    const { text } = await browser.open(authorization(clientId));
    const action = /action="([^"]+\/sign-in\/github)"/.exec(text)?.[1] ?? '';
    // The test does the next step of the browser.
    const { open } = browser;
    let callback = new URL(issuer);
    browser.open = async function (page, method) {
      if (!page.pathname.startsWith('/callback/')) return open.call(this, page, method);
      callback = page;
      return { url: page, status: 0, text: '' };
    };
    await browser.open(new URL(action, issuer), 'POST');
    browser.open = open;
    return { browser, callback };
  };
  const { browser, callback } = await begin();
  assert.equal((await new Browser().open(callback)).status, 400);
  const otherProvider = new URL(callback.href.replace('/callback/github', '/callback/google'));
  assert.equal((await browser.open(otherProvider)).status, 400);
  assert.match((await browser.open(callback)).text, /Allow/);
  assert.equal((await browser.open(callback)).status, 400);

  const again = await begin();
  const otherState = new URL(again.callback);
  otherState.searchParams.set('state', `${otherState.searchParams.get('state')}x`);
  assert.equal((await again.browser.open(otherState)).status, 400);
  assert.equal((await again.browser.open(again.callback)).status, 400);
});

async function register(): Promise<{ client_id: string }> {
  const response = await fetch(`${issuer}/reg`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: ['https://client.example/callback'], client_name: 'Web client' }),
  });
  return (await response.json()) as { client_id: string };
}

function authorization(clientId: string, change: Record<string, string> = {}): URL {
  const page = new URL(`${issuer}/auth`);
  page.search = new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    redirect_uri: 'https://client.example/callback',
    scope: 'mcp',
    resource,
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
    ...change,
  }).toString();
  return page;
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
