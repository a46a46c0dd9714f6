import { randomUUID } from 'node:crypto';
import type { AddClientAuthentication } from '../../protocol/oauth-types.js';
import { MCPOAuthClientProvider } from './oauth-client-provider.js';
import type { OAuthStorage } from './oauth-storage.js';

export interface ClientCredentialsOptions {
  clientId: string;
  /** Secret of the client. Pass this or `privateKey`. */
  clientSecret?: string;
  /** Private key of the client: PKCS #8 in PEM form. */
  privateKey?: string;
  /** Signature algorithm of the key. Default `ES256`. */
  algorithm?: string;
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
 * Returns a provider for programs without a user.
 *
 * A call throws `OAUTH_ISSUER_UNEXPECTED` when the MCP server names another authorization server than `issuer`.
 *
 * @see [RFC 6749, section 4.4 – Client Credentials Grant](https://www.rfc-editor.org/rfc/rfc6749.html#section-4.4)
 * @see [RFC 7523, section 2.2 – Using JWTs for Client Authentication](https://www.rfc-editor.org/rfc/rfc7523.html#section-2.2)
 */
export function createClientCredentialsProvider({
  clientId,
  clientSecret,
  privateKey,
  algorithm = 'ES256',
  issuer,
  scope,
  storage,
}: ClientCredentialsOptions): MCPOAuthClientProvider {
  return new MCPOAuthClientProvider({
    clientMetadata: { redirect_uris: [], grant_types: ['client_credentials'], ...(scope !== undefined && { scope }) },
    clientInformation: {
      client_id: clientId,
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
      ...(issuer !== undefined && { issuer }),
    },
    ...(storage && { storage }),
    ...(privateKey !== undefined && { addClientAuthentication: signAssertions(clientId, privateKey, algorithm) }),
  });
}

function signAssertions(clientId: string, privateKey: string, algorithm: string): AddClientAuthentication {
  return async (_headers, parameters, url, metadata) => {
    const { importPKCS8, SignJWT } = await import('jose');
    const assertion = await new SignJWT()
      .setProtectedHeader({ alg: algorithm })
      .setIssuer(clientId)
      .setSubject(clientId)
      .setAudience(metadata?.issuer ?? String(url))
      .setIssuedAt()
      .setExpirationTime('1m')
      .setJti(randomUUID())
      .sign(await importPKCS8(privateKey, algorithm));
    parameters.set('client_id', clientId);
    parameters.set('client_assertion', assertion);
    parameters.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
  };
}
