import { QuiverError } from '@quiver/core';

/** Whether a host name is a loopback name or address, without a DNS request. */
export function isLoopbackHost(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(\.\d{1,3}){3}$/.test(hostname)
  );
}

/**
 * Returns a URL that tokens and secrets may be sent to: https, or http with a loopback host, without credentials or a fragment.
 *
 * @param role - what the URL is for, in error messages
 * @throws `OAUTH_URL_INSECURE`
 * @see [RFC 8414, section 6.1 – TLS Requirements](https://www.rfc-editor.org/rfc/rfc8414.html#section-6.1)
 */
export function requireSecureUrl(url: string | URL, role: string): URL {
  const refuse = (reason: string): QuiverError =>
    new QuiverError(
      'OAUTH_URL_INSECURE',
      `The URL of ${role} ${reason}; pass an https URL (http is for loopback hosts only).`,
    );
  // URL drops line breaks and escapes other characters; the text itself could change what an error message shows.
  // Space around it is dropped, because files and variables of the environment often end in a line break.
  const text = String(url).trim();
  if (!URL.canParse(text) || /[\s\p{Cc}]/u.test(text)) throw refuse('is not a URL');
  const parsed = new URL(text);
  const { protocol, hostname, username, password, hash } = parsed;
  if (username !== '' || password !== '') throw refuse('contains credentials');
  if (hash !== '') throw refuse('has a fragment');
  if (protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))) return parsed;
  throw refuse(protocol === 'http:' ? 'is not encrypted' : `is of the kind ${protocol}`);
}

/** Returns a URL for error messages: queries of MCP servers may contain keys. */
export function withoutQuery(url: string | URL): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
