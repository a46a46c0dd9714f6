import { createServer, type ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { QuiverError } from '@quiver/core';
import { isLoopbackHost } from '../secure-url.js';
import type { AuthorizationCallback } from './finish-authorization.js';

export interface OAuthCallbackServerOptions {
  /** The registered redirect URL: http and on this machine. */
  redirectUrl: string | URL;
  /** Milliseconds until the user must be back. Default 300 000. */
  timeout?: number;
}

export interface OAuthCallbackServer {
  readonly url: URL;
  /**
   * The one answer of the authorization server.
   *
   * @throws `OAUTH_SIGN_IN_REFUSED` when it is an error, `OAUTH_SIGN_IN_TIMEOUT`, `OAUTH_SIGN_IN_CANCELLED` after `close()`
   */
  waitForCode(): Promise<AuthorizationCallback>;
  close(): Promise<void>;
}

/**
 * Waits on this machine for the user to come back from the sign-in page. Takes one answer, on the exact path, and then closes.
 *
 * @throws `OAUTH_REDIRECT_URL_INVALID` when the URL is not http on this machine; `PORT_IN_USE`
 * @see [RFC 8252, section 7.3 – Loopback Interface Redirection](https://www.rfc-editor.org/rfc/rfc8252.html#section-7.3)
 */
export async function createOAuthCallbackServer({
  redirectUrl,
  timeout = 300_000,
}: OAuthCallbackServerOptions): Promise<OAuthCallbackServer> {
  const url = URL.canParse(String(redirectUrl)) ? new URL(redirectUrl) : undefined;
  if (url?.protocol !== 'http:' || !isLoopbackHost(url.hostname)) {
    throw new QuiverError(
      'OAUTH_REDIRECT_URL_INVALID',
      `The callback server needs an http URL on this machine, such as http://localhost:3000/callback, not ${url ? `one at ${url.origin}` : 'something else'}.`,
    );
  }
  let settle: { resolve: (callback: AuthorizationCallback) => void; reject: (error: QuiverError) => void } | undefined;
  const answer = new Promise<AuthorizationCallback>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // Nobody may be waiting yet when it fails.
  answer.catch(() => {});

  const server = createServer((req, res) => {
    const target = parseTarget(req.url, url);
    if (!target) return page(res, 404, 'Not found', 'There is nothing here.');
    if (req.method !== 'GET') return page(res, 405, 'Not allowed', 'Only a browser belongs here.', { allow: 'GET' });
    if (!settle) return page(res, 410, 'Already done', 'This sign-in is over. You can close the window.');
    const { resolve, reject } = settle;
    const [code, error, state, iss] = ['code', 'error', 'state', 'iss'].map((name) => single(target, name));
    if (error === undefined && code === undefined) return page(res, 400, 'Not an answer', 'A code is missing.');
    settle = undefined;
    res.on('close', () => void close());
    if (error !== undefined) {
      const description = single(target, 'error_description') ?? error;
      page(res, 400, 'Sign-in failed', description);
      reject(
        new QuiverError(
          'OAUTH_SIGN_IN_REFUSED',
          `The authorization server refused the sign-in: ${printable(description)}.`,
        ),
      );
      return;
    }
    page(res, 200, 'Signed in', 'You can close this window.');
    resolve({ code: code ?? '', state, ...(iss !== undefined && { iss }) });
  });

  const close = async (reason?: QuiverError): Promise<void> => {
    clearTimeout(timer);
    settle?.reject(
      reason ?? new QuiverError('OAUTH_SIGN_IN_CANCELLED', 'The sign-in was given up before it was finished.'),
    );
    settle = undefined;
    if (!server.listening) return;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  };
  const timer = setTimeout(
    () => void close(new QuiverError('OAUTH_SIGN_IN_TIMEOUT', `Nobody signed in within ${timeout} ms. Try again.`)),
    timeout,
  );
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      const address = url.hostname.replace(/^\[|\]$/g, '');
      // A name is not looked up: it might be somewhere else.
      server.listen(Number(url.port || 80), isIP(address) > 0 ? address : '127.0.0.1', resolve);
    });
  } catch (error) {
    clearTimeout(timer);
    throw new QuiverError('PORT_IN_USE', `Cannot wait for the sign-in on ${url.host}: ${(error as Error).message}.`, {
      cause: error,
    });
  }
  const address = server.address();
  if (typeof address === 'object' && address) url.port = String(address.port);
  return { url, waitForCode: () => answer, close: () => close() };
}

function parseTarget(target: string | undefined, { pathname }: URL): URLSearchParams | undefined {
  const [path, query = ''] = (target ?? '').split('?', 2);
  return path === pathname ? new URLSearchParams(query) : undefined;
}

/** A parameter that is there twice says nothing. */
function single(parameters: URLSearchParams, name: string): string | undefined {
  const values = parameters.getAll(name);
  return values.length === 1 && values[0] !== '' ? values[0] : undefined;
}

function printable(text: string): string {
  return text.slice(0, 200).replaceAll(/[^\x20-\x7E]+/g, ' ');
}

function page(
  res: ServerResponse,
  status: number,
  title: string,
  text: string,
  headers: Record<string, string> = {},
): void {
  const escape = (value: string): string =>
    value.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
  res.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
    ...headers,
  });
  res.end(
    `<!doctype html><title>${escape(title)}</title><h1>${escape(title)}</h1><p>${escape(text.slice(0, 500))}</p>`,
  );
}
