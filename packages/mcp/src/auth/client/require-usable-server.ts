import { QuiverError } from '@quiver/core';
import type { OAuthDiscoveryState } from '../../protocol/oauth-types.js';
import { requireSecureUrl } from '../secure-url.js';

type ServerMetadata = NonNullable<OAuthDiscoveryState['authorizationServerMetadata']>;

/**
 * Refuses an authorization server that could not be used safely.
 *
 * @param hasUser - whether a user signs in, which takes a page and PKCE
 * @throws `OAUTH_PKCE_UNSUPPORTED` when it does not say that it supports S256
 * @throws `OAUTH_URL_INSECURE` when it names an endpoint that is neither https nor on this machine
 * @see [RFC 9700, section 2.1.1 – Authorization Code Grant](https://www.rfc-editor.org/rfc/rfc9700.html#section-2.1.1)
 */
export function requireUsableServer(metadata: ServerMetadata, hasUser: boolean): void {
  requireSecureUrl(metadata.token_endpoint, 'the token endpoint');
  if (metadata.registration_endpoint) requireSecureUrl(metadata.registration_endpoint, 'the registration endpoint');
  if (!hasUser) return;
  requireSecureUrl(metadata.authorization_endpoint, 'the sign-in page');
  if (metadata.code_challenge_methods_supported?.includes('S256')) return;
  throw new QuiverError(
    'OAUTH_PKCE_UNSUPPORTED',
    `The authorization server ${metadata.issuer} does not support PKCE with S256, without which a code can be stolen.`,
  );
}
