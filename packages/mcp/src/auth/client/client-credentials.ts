import type { AddClientAuthentication } from '../../protocol/oauth-types.js';
import { MCPOAuthClientProvider, type MCPOAuthClientProviderOptions } from './oauth-client-provider.js';
import type { OAuthStorage } from './oauth-storage.js';

/** A client without a user. */
export interface RegisteredClientOptions {
  clientId: string;
  /** Secret of the client. */
  clientSecret?: string;
  /**
   * Exact issuer of the authorization server that the client is registered at. Credentials are sent to no other. Default: the first one
   * that the MCP server names, which is the server's choice.
   */
  issuer?: string;
  /** Scopes to request, separated by spaces, where the server names none. */
  scope?: string;
  storage?: OAuthStorage;
}

export interface ClientCredentialsOptions extends RegisteredClientOptions {
  /** Private key of the client, instead of a secret: PKCS #8 in PEM form. */
  privateKey?: string;
  /** Signature algorithm of the key. Default `ES256`. */
  algorithm?: string;
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
  privateKey,
  algorithm = 'ES256',
  ...options
}: ClientCredentialsOptions): MCPOAuthClientProvider {
  const addClientAuthentication = privateKey && signAssertions(options.clientId, privateKey, algorithm);
  return createRegisteredClient('client_credentials', options, {
    ...(addClientAuthentication && { addClientAuthentication }),
  });
}

/** Returns a provider for a registered client that uses one grant. */
export function createRegisteredClient(
  grantType: string,
  { clientId, clientSecret, issuer, scope, storage }: RegisteredClientOptions,
  options: Partial<MCPOAuthClientProviderOptions>,
): MCPOAuthClientProvider {
  return new MCPOAuthClientProvider({
    clientMetadata: { redirect_uris: [], grant_types: [grantType], ...(scope !== undefined && { scope }) },
    clientInformation: {
      client_id: clientId,
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
      ...(issuer !== undefined && { issuer }),
    },
    ...(storage && { storage }),
    ...options,
  });
}

function signAssertions(clientId: string, privateKey: string, algorithm: string): AddClientAuthentication {
  return async (headers, parameters, url, metadata) => {
    const library = await import('oauth4webapi');
    const { importPKCS8 } = await import('jose');
    const authenticate = library.PrivateKeyJwt(await importPKCS8(privateKey, algorithm), {
      // The library names EdDSA keys `Ed25519`, which not every server knows.
      [library.modifyAssertion]: (header) => {
        header['alg'] = algorithm;
      },
    });
    await authenticate({ issuer: metadata?.issuer ?? String(url) }, { client_id: clientId }, parameters, headers);
  };
}
