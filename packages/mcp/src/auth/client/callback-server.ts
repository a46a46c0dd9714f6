import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { isIP, type AddressInfo } from 'node:net';
import { QuiverError } from '@quiver/core';
import { checkOptions, type OptionChecks, invalidOptions, unchecked } from '@quiver/core/internal';
import { isLoopbackHost } from '../secure-url.js';
import type { AuthorizationCallback } from './sign-in.js';

/** Options of `createOAuthCallbackServer()`. */
export interface OAuthCallbackServerOptions {
  /** The registered redirect URL: http with a loopback host. */
  redirectUrl: string | URL;
  /** The `state` of the authorization request, or a function that recognizes it. Requests with another state receive 400. */
  state: string | ((received: string) => boolean | Promise<boolean>);
  /** Milliseconds until the response must arrive. Default 300 000. */
  timeout?: number;
}

/** Server that waits for the redirect of an authorization server. */
export interface OAuthCallbackServer {
  readonly url: URL;
  /** @throws `OAUTH_SIGN_IN_REFUSED` when the response is an error, `OAUTH_SIGN_IN_TIMEOUT`, `OAUTH_SIGN_IN_CANCELLED` after `close()` */
  waitForCode(): Promise<AuthorizationCallback>;
  close(): Promise<void>;
}

const checks: OptionChecks<OAuthCallbackServerOptions> = {
  ...unchecked<OAuthCallbackServerOptions>()('redirectUrl', 'state', 'timeout'),
};

/**
 * Listens on a loopback address for the authorization response. Accepts one response, on the exact path and with the expected state,
 * and then closes.
 *
 * @throws `OPTIONS_INVALID` when the URL is not an http URL with a loopback host; `OAUTH_STATE_INVALID` without `state`;
 *   `PORT_IN_USE`
 * @see [RFC 6749, section 10.12 – Cross-Site Request Forgery](https://www.rfc-editor.org/rfc/rfc6749.html#section-10.12)
 * @see [RFC 8252, section 7.3 – Loopback Interface Redirection](https://www.rfc-editor.org/rfc/rfc8252.html#section-7.3)
 */
export async function createOAuthCallbackServer(options: OAuthCallbackServerOptions): Promise<OAuthCallbackServer> {
  checkOptions('createOAuthCallbackServer', options, checks);
  const { redirectUrl, state: expected, timeout = 300_000 } = options;
  const url = URL.canParse(String(redirectUrl)) ? new URL(redirectUrl) : undefined;
  if (url?.protocol !== 'http:' || !isLoopbackHost(url.hostname)) {
    throw invalidOptions(
      `The callback server requires an http URL with a loopback host, such as http://localhost:3000/callback, not ${url ? `one at ${url.origin}` : 'an invalid URL'}.`,
    );
  }
  const acceptsState = typeof expected === 'string' ? (received: string) => received === expected : expected;
  if (typeof acceptsState !== 'function' || expected === '') {
    throw new QuiverError(
      'OAUTH_STATE_INVALID',
      'createOAuthCallbackServer() requires state: the state of the authorization request, or a function that recognizes it.',
    );
  }
  let settle: { resolve: (callback: AuthorizationCallback) => void; reject: (error: QuiverError) => void } | undefined;
  const response = new Promise<AuthorizationCallback>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // A failure before waitForCode() must not become an unhandled rejection.
  response.catch(() => {});

  const receive = async (parameters: URLSearchParams, res: ServerResponse): Promise<void> => {
    const [code, error, state, iss] = ['code', 'error', 'state', 'iss'].map((name) => single(parameters, name));
    // Checked before anything else is read: the other parameters are untrusted text until the state matches.
    if (state === undefined || !(await acceptsState(state))) {
      return page(res, 400, 'Not accepted', 'This response does not belong to the sign-in that is in progress.');
    }
    if (!settle) return page(res, 410, 'Already done', 'This sign-in is over. You can close the window.');
    if (error === undefined && code === undefined) return page(res, 400, 'Not accepted', 'The code is missing.');
    const { resolve, reject } = settle;
    settle = undefined;
    res.on('close', () => void close());
    if (error !== undefined) {
      page(res, 400, 'Sign-in failed', single(parameters, 'error_description') ?? error);
      return reject(toRefusal(error));
    }
    page(res, 200, 'Signed in', 'You can close this window.');
    return resolve({ code: code ?? '', state, ...(iss !== undefined && { iss }) });
  };

  // Loaded here, because importing `node:http` costs 70 ms.
  const { createServer } = await import('node:http');
  const server = createServer((req, res) => {
    const [path, query = ''] = (req.url ?? '').split('?', 2);
    if (path !== url.pathname) return page(res, 404, 'Not found', 'This page does not exist.');
    if (req.method !== 'GET') return page(res.setHeader('allow', 'GET'), 405, 'Not allowed', 'Only GET is allowed.');
    receive(new URLSearchParams(query), res).catch(() =>
      page(res, 500, 'Sign-in failed', 'The response could not be checked.'),
    );
  });

  const close = async (
    error = new QuiverError('OAUTH_SIGN_IN_CANCELLED', 'The sign-in was canceled before it finished.'),
  ): Promise<void> => {
    clearTimeout(timer);
    settle?.reject(error);
    settle = undefined;
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  const timer = setTimeout(() => {
    const message = `The sign-in timed out after ${timeout} ms. Start it again or raise \`timeout\`.`;
    void close(new QuiverError('OAUTH_SIGN_IN_TIMEOUT', message));
  }, timeout);
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  try {
    // A name is not resolved: it might belong to another host.
    server.listen(Number(url.port || 80), isIP(literal) > 0 ? literal : '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    clearTimeout(timer);
    throw new QuiverError('PORT_IN_USE', `Cannot listen for the sign-in on ${url.host}: ${(error as Error).message}.`, {
      cause: error,
    });
  }
  // A TCP server that listens has an address.
  url.port = String((server.address() as AddressInfo).port);
  return { url, waitForCode: () => response, close: () => close() };
}

function single(parameters: URLSearchParams, name: string): string | undefined {
  const values = parameters.getAll(name);
  return values.length === 1 && values[0] !== '' ? values[0] : undefined;
}

/** Keeps only the error code of the response, because its description is free text. */
function toRefusal(error: string): QuiverError {
  const code = /^[a-z_]{1,40}$/.test(error) ? error : 'unknown error';
  return new QuiverError(
    'OAUTH_SIGN_IN_REFUSED',
    `The authorization server refused the sign-in (${code}). Sign in again.`,
    { details: { error: code } },
  );
}

function page(res: ServerResponse, status: number, title: string, text: string): void {
  const escape = (value: string): string =>
    value.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
  res.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  });
  res.end(
    `<!doctype html><title>${escape(title)}</title><h1>${escape(title)}</h1><p>${escape(text.slice(0, 500))}</p>`,
  );
}
