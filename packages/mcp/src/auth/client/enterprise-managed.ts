import { QuiverError } from '@quiver/core';
import { requireSecureUrl } from '../secure-url.js';
import type { Fetch } from '../../fetch.js';
import { createGuardedFetch } from './guarded-fetch.js';
import { createJwtBearerProvider, type JwtBearerOptions } from './jwt-bearer.js';
import type { MCPOAuthClientProvider } from './oauth-client-provider.js';

/** The identity provider where the user is signed in already. */
export interface IdentityProvider {
  tokenEndpoint: string | URL;
  clientId: string;
  clientSecret?: string;
  /** The ID token of the user's sign-in there. Asked for whenever an access token is needed. */
  idToken: () => string | Promise<string>;
}

export interface EnterpriseManagedOptions extends Omit<JwtBearerOptions, 'assertion'> {
  identityProvider: IdentityProvider;
  fetch?: Fetch;
}

/**
 * A provider for users of a company: their sign-in at its identity provider is exchanged for a grant, and that for a token of the MCP
 * server's authorization server. They see no further page, and the company decides who may use which server.
 *
 * A call throws `OAUTH_TOKEN_EXCHANGE_FAILED` when the identity provider gives no grant.
 *
 * @throws `OAUTH_URL_INSECURE` when the token endpoint is neither https nor on this machine
 * @see [MCP, Enterprise-Managed Authorization](https://modelcontextprotocol.io/extensions/auth/enterprise-managed-authorization)
 * @see [RFC 8693 – OAuth 2.0 Token Exchange](https://www.rfc-editor.org/rfc/rfc8693.html)
 */
export function createEnterpriseManagedProvider({
  identityProvider,
  fetch,
  ...options
}: EnterpriseManagedOptions): MCPOAuthClientProvider {
  const { clientId, clientSecret, idToken } = identityProvider;
  const tokenEndpoint = requireSecureUrl(identityProvider.tokenEndpoint, 'the identity provider');
  // Its address is the user's own choice; the limits on time and size hold all the same.
  const fetchFn = createGuardedFetch({ fetch, serverUrl: tokenEndpoint });
  return createJwtBearerProvider({
    ...options,
    assertion: async ({ issuer, resource, scope }) => {
      const { requestJwtAuthorizationGrant } = await import('../../protocol/sdk-auth.js');
      const subjectToken = await idToken();
      try {
        const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
          tokenEndpoint,
          audience: issuer,
          resource: resource ?? '',
          idToken: subjectToken,
          clientId,
          ...(clientSecret !== undefined && { clientSecret }),
          ...(scope !== undefined && { scope }),
          fetchFn,
        });
        return jwtAuthGrant;
      } catch (error) {
        if (error instanceof QuiverError) throw error;
        // Of the answer only the error code is kept: the rest may repeat the token.
        const [, reason = 'no usable answer'] =
          /^Token exchange failed: ([a-z_]{1,40})\b/.exec(String((error as Error).message)) ?? [];
        throw new QuiverError(
          'OAUTH_TOKEN_EXCHANGE_FAILED',
          `The identity provider ${tokenEndpoint.origin} gave no grant for ${issuer} (${reason}). Sign in there again, or ask its administrator.`,
        );
      }
    },
  });
}
