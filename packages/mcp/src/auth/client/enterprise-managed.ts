import { requireSecureUrl } from '../secure-url.js';
import type { Fetch } from '../../fetch.js';
import { createGuardedFetch } from './guarded-fetch.js';
import { createJwtBearerProvider, type JwtBearerOptions } from './jwt-bearer.js';
import type { MCPOAuthClientProvider } from './oauth-client-provider.js';
import { toOAuthError } from './oauth-error.js';
import { tokenEndpointOptions } from './request-tokens.js';

const idJag = 'urn:ietf:params:oauth:token-type:id-jag';

/** The identity provider at which the user is signed in. */
export interface IdentityProvider {
  tokenEndpoint: string | URL;
  clientId: string;
  clientSecret?: string;
  /** Returns the user's ID token. Called whenever an access token is needed. */
  idToken: () => string | Promise<string>;
}

export interface EnterpriseManagedOptions extends Omit<JwtBearerOptions, 'assertion'> {
  identityProvider: IdentityProvider;
  fetch?: Fetch;
}

/**
 * Returns a provider for users of a company: their sign-in at its identity provider is exchanged for a grant, and the grant for a token
 * of the MCP server's authorization server. Users see no further page, and the company decides who may use which server.
 *
 * A call throws `OAUTH_TOKEN_EXCHANGE_FAILED` when the identity provider issues no grant.
 *
 * @throws `OAUTH_URL_INSECURE` when the token endpoint is neither https nor a loopback address
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
  // The application chose its address; the limits on time and size apply as well.
  const fetchFn = createGuardedFetch({ fetch, serverUrl: tokenEndpoint });
  return createJwtBearerProvider({
    ...options,
    assertion: async ({ issuer, resource, scope }) => {
      const library = await import('oauth4webapi');
      const server = { issuer: tokenEndpoint.origin, token_endpoint: tokenEndpoint.href };
      const client = { client_id: clientId };
      const authentication = clientSecret === undefined ? library.None() : library.ClientSecretPost(clientSecret);
      const parameters = {
        requested_token_type: idJag,
        audience: issuer,
        resource: resource ?? '',
        subject_token: await idToken(),
        subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
        ...(scope !== undefined && { scope }),
      };
      const options = tokenEndpointOptions(library, server, fetchFn);
      try {
        const response = await library.genericTokenEndpointRequest(
          server,
          client,
          authentication,
          'urn:ietf:params:oauth:grant-type:token-exchange',
          parameters,
          options,
        );
        // RFC 8693, section 2.2.1: a grant is not an access token, and its type is "N_A".
        const recognizedTokenTypes = { n_a: () => {} };
        const grant = await library.processGenericTokenEndpointResponse(server, client, response, {
          recognizedTokenTypes,
        });
        if (grant['issued_token_type'] !== idJag) throw new TypeError('the response is not an identity assertion');
        return grant.access_token;
      } catch (error) {
        throw toOAuthError(
          error,
          'OAUTH_TOKEN_EXCHANGE_FAILED',
          `The identity provider ${tokenEndpoint.origin} issued no grant for ${issuer}; sign in there again, or contact its administrator`,
        );
      }
    },
  });
}
