import { MCPOAuthClientProvider, type TokenRequestContext } from './oauth-client-provider.js';
import type { OAuthStorage } from './oauth-storage.js';

export interface JwtBearerOptions {
  clientId: string;
  /** Client secret, for servers that require it in addition to the JWT. */
  clientSecret?: string;
  /** Returns the JWT that the authorization server trusts. Called whenever a token is needed. */
  assertion: (context: TokenRequestContext) => string | Promise<string>;
  /**
   * Exact issuer of the authorization server that the client is registered at. Credentials are sent to no other. Default: the first one
   * that the MCP server names, which is the server's choice.
   */
  issuer?: string;
  /** Scopes to request, separated by spaces, where the server names none. */
  scope?: string;
  storage?: OAuthStorage;
}

/**
 * Returns a provider for programs with a JWT of an issuer that the authorization server trusts: the platform they run on (workload
 * identity), or the identity provider of a company. The JWT is exchanged for a token, without a user.
 *
 * A call throws `OAUTH_ISSUER_UNEXPECTED` when the MCP server names another authorization server than `issuer`.
 *
 * @see [RFC 7523, section 2.1 – Using JWTs as Authorization Grants](https://www.rfc-editor.org/rfc/rfc7523.html#section-2.1)
 * @example
 * const provider = createJwtBearerProvider({
 *   clientId: 'nightly-report',
 *   assertion: () => readFile('/var/run/secrets/tokens/mcp', 'utf8'),
 * });
 */
export function createJwtBearerProvider({
  clientId,
  clientSecret,
  assertion,
  issuer,
  scope: usualScope,
  storage,
}: JwtBearerOptions): MCPOAuthClientProvider {
  const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
  return new MCPOAuthClientProvider({
    clientMetadata: {
      redirect_uris: [],
      grant_types: [grantType],
      ...(usualScope !== undefined && { scope: usualScope }),
    },
    clientInformation: {
      client_id: clientId,
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
      ...(issuer !== undefined && { issuer }),
    },
    tokenRequest: async (context) =>
      new URLSearchParams({
        grant_type: grantType,
        assertion: await assertion(context),
        ...(context.scope !== undefined && { scope: context.scope }),
      }),
    ...(storage && { storage }),
  });
}
