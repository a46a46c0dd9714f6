import { createOAuthCallbackServer, type OAuthCallbackServer } from '@quiver/mcp/auth';
import { describe, expect, it } from 'vitest';
import { errorOf } from '../../../test/error-of.ts';
import { afterTest } from '../../../test/after-test.ts';
import { send } from '../../../test/clients/wire.ts';

async function start(timeout?: number): Promise<OAuthCallbackServer> {
  const server = await createOAuthCallbackServer({
    redirectUrl: 'http://127.0.0.1:0/callback',
    state: 's',
    ...(timeout !== undefined && { timeout }),
  });
  afterTest(() => server.close());
  return server;
}

describe('createOAuthCallbackServer', () => {
  it('accepts one response, confirms it to the user, and closes', async () => {
    const { url, waitForCode } = await start();
    const answer = await send(`${url.href}?code=c&state=s&iss=https%3A%2F%2Fa.example`, { method: 'GET' });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
    expect(await waitForCode()).toEqual({ code: 'c', state: 's', iss: 'https://a.example' });
    const second = await send(`${url.href}?code=other&state=s`, { method: 'GET' }).then(
      ({ status }) => status,
      () => 410,
    );
    expect(second).toBe(410);
  });

  it('rejects another path, another method, and a response without exactly one code', async () => {
    const { url, waitForCode } = await start();
    for (const path of ['/', '/callback/', '/Callback?code=c', '//callback?code=c', '/favicon.ico']) {
      expect(await send(url.href, { method: 'GET', path })).toMatchObject({ status: 404 });
    }
    expect(await send(`${url.href}?code=c&state=s`, { method: 'POST', body: '' })).toMatchObject({ status: 405 });
    expect(await send(`${url.href}?code=c&code=d&state=s`, { method: 'GET' })).toMatchObject({ status: 400 });
    expect(await send(`${url.href}?state=s`, { method: 'GET' })).toMatchObject({ status: 400 });
    expect(await send(`${url.href}?code=real&state=s`, { method: 'GET' })).toMatchObject({ status: 200 });
    expect(await waitForCode()).toMatchObject({ code: 'real' });
  });

  it('escapes the error description of the authorization server', async () => {
    const { url, waitForCode } = await start();
    const failed = waitForCode().catch((error: unknown) => error);
    const text = encodeURIComponent('<script>alert("1")</script>');
    const { status, text: html } = await send(`${url.href}?error=access_denied&state=s&error_description=${text}`, {
      method: 'GET',
    });
    expect(status).toBe(400);
    expect(html).not.toContain('<script>');
    expect(html).toContain('&#60;script&#62;');
    const error = await failed;
    expect(error).toMatchObject({ code: 'OAUTH_SIGN_IN_REFUSED', details: { error: 'access_denied' } });
    expect(String(error)).not.toContain('script');
  });

  // Any web page can send a request to a loopback address.
  it.each([
    ['an error without a state', 'error=access_denied'],
    ['an error with another state', 'error=call+%2B1-555&state=guessed'],
    ['a code with another state', 'code=evil&state=guessed'],
    ['a code without a state', 'code=evil'],
    ['two states', 'code=evil&state=s&state=guessed'],
    ['an empty state', 'code=evil&state='],
  ])('answers 400 to %s and keeps waiting', async (_what, query) => {
    const { url, waitForCode } = await start();
    const refused = await send(`${url.href}?${query}`, { method: 'GET' });
    expect(refused.status).toBe(400);
    expect(refused.text).not.toMatch(/Signed in|555/);
    expect(await send(`${url.href}?code=real&state=s`, { method: 'GET' })).toMatchObject({ status: 200 });
    expect(await waitForCode()).toMatchObject({ code: 'real' });
  });

  it('does not repeat an unknown error code', async () => {
    const { url, waitForCode } = await start();
    const failed = waitForCode().catch((error: unknown) => error);
    await send(`${url.href}?error=${encodeURIComponent('Call +1-555')}&state=s`, { method: 'GET' });
    const error = await failed;
    expect(error).toMatchObject({ code: 'OAUTH_SIGN_IN_REFUSED', details: { error: 'unknown error' } });
    expect(String(error)).not.toContain('555');
  });

  it('requires a state', async () => {
    for (const state of [undefined, '']) {
      await expect(
        createOAuthCallbackServer({ redirectUrl: 'http://127.0.0.1:0/callback', state: state as string }),
      ).rejects.toMatchObject({ code: 'OAUTH_STATE_INVALID' });
    }
  });

  it('listens on loopback addresses only, and times out', async () => {
    for (const redirectUrl of [
      'https://localhost:3000/callback',
      'http://example.com/callback',
      'http://0.0.0.0:3000/',
      'callback',
    ]) {
      await expect(createOAuthCallbackServer({ redirectUrl, state: 's' })).rejects.toThrow(errorOf('OPTIONS_INVALID'));
    }
    const { url, waitForCode } = await start(50);
    await expect(waitForCode()).rejects.toMatchObject({ code: 'OAUTH_SIGN_IN_TIMEOUT' });
    await expect(send(url.href, { method: 'GET' })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    const given = await start();
    await given.close();
    await expect(given.waitForCode()).rejects.toMatchObject({ code: 'OAUTH_SIGN_IN_CANCELLED' });
  });

  it('listens on 127.0.0.1 for every name of localhost, without a DNS request', async () => {
    const server = await createOAuthCallbackServer({ redirectUrl: 'http://app.localhost:0/callback', state: 's' });
    afterTest(() => server.close());
    const { status } = await send(`http://127.0.0.1:${server.url.port}/callback?code=c&state=s`, { method: 'GET' });
    expect(status).toBe(200);
    expect(await server.waitForCode()).toMatchObject({ code: 'c' });
  });

  it('reports a port that is in use', async () => {
    const { url } = await start();
    await expect(createOAuthCallbackServer({ redirectUrl: url, state: 's' })).rejects.toThrow(errorOf('PORT_IN_USE'));
  });
});
