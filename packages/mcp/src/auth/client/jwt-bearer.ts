import { MCPOAuthClientProvider, type TokenRequestContext } from './oauth-client-provider.js';
import type { OAuthStorage } from './oauth-storage.js';

export interface JwtBearerOptions {
  clientId: string;
  /** For clients that prove themselves with a secret beside the JWT. */
  clientSecret?: string;
  /** The JWT that the authorization server trusts. Asked for whenever a token is needed. */
  assertion: (context: TokenRequestContext) => string | Promise<string>;
  /**
   * The authorization server that the client is known to, by its exact issuer. Nothing is shown to any other. Default: the first one
   * that the MCP server names, which is the server's choice.
   */
  issuer?: string;
  /** Scopes to ask for, separated by spaces, where the server names none. */
  scope?: string;
  storage?: OAuthStorage;
}

/**
 * A provider for programs that have a JWT of somebody the authorization server trusts: the platform they run on (workload identity), or
 * the identity provider of a company. It is exchanged for a token, without a user.
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
