import { checkOptions, functionValue, objectOf, type OptionChecks, unchecked } from '@quiver/core/internal';
import { defined } from '../../defined.js';
import type { Fetch } from '../../http/send.js';
import type { AddClientAuthentication } from '../../protocol/oauth-types.js';
import { requireSecureUrl } from '../secure-url.js';
import { createGuardedFetch } from './guarded-fetch.js';
import { MCPOAuthClientProvider } from './oauth-client-provider.js';
import { toOAuthError } from './oauth-error.js';
import { storageValue, type OAuthStorage } from './oauth-storage.js';
import { sendTokenRequest } from './request-tokens.js';
import type { MCPOAuthClientProviderOptions, TokenRequestContext } from './sign-in-state.js';

/** A client without a user. */
interface RegisteredClientOptions {
  /** Id of the client at the authorization server. */
  clientId: string;
  /** Secret of the client. */
  clientSecret?: string;
  /** Issuer of the client's registration. Credentials are sent to no other: `OAUTH_ISSUER_UNEXPECTED`. Default: the first that the server names. */
  issuer?: string;
  /** Scopes to request, separated by spaces, where the server names none. */
  scope?: string;
  /** Storage of tokens. Default: memory. */
  storage?: OAuthStorage;
}

function createRegisteredClient(
  grantType: string,
  { clientId, clientSecret, issuer, scope, storage }: RegisteredClientOptions,
  options: Partial<MCPOAuthClientProviderOptions>,
): MCPOAuthClientProvider {
  return new MCPOAuthClientProvider({
    clientMetadata: defined({ redirect_uris: [], grant_types: [grantType], scope }),
    clientInformation: defined({ client_id: clientId, client_secret: clientSecret, issuer }),
    ...defined({ storage }),
    ...options,
  });
}

const registeredChecks: OptionChecks<RegisteredClientOptions> = {
  ...unchecked<RegisteredClientOptions>()('clientId', 'clientSecret', 'issuer', 'scope'),
  storage: storageValue,
};

/** Options of `createClientCredentialsProvider()`. */
export interface ClientCredentialsOptions extends RegisteredClientOptions {
  /** Private key of the client, instead of a secret: PKCS #8 in PEM form. */
  privateKey?: string;
  /** Signature algorithm of the key. Default `ES256`. */
  algorithm?: string;
}

const credentialsChecks: OptionChecks<ClientCredentialsOptions> = {
  ...registeredChecks,
  ...unchecked<ClientCredentialsOptions>()('privateKey', 'algorithm'),
};

/**
 * Returns a provider for programs without a user.
 *
 * @see [RFC 6749, section 4.4 – Client Credentials Grant](https://www.rfc-editor.org/rfc/rfc6749.html#section-4.4)
 * @see [RFC 7523, section 2.2 – Using JWTs for Client Authentication](https://www.rfc-editor.org/rfc/rfc7523.html#section-2.2)
 */
export function createClientCredentialsProvider(given: ClientCredentialsOptions): MCPOAuthClientProvider {
  checkOptions('createClientCredentialsProvider', given, credentialsChecks);
  const { privateKey, algorithm = 'ES256', ...options } = given;
  const addClientAuthentication = privateKey ? signAssertions(options.clientId, privateKey, algorithm) : undefined;
  return createRegisteredClient('client_credentials', options, defined({ addClientAuthentication }));
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

/** Options of `createJwtBearerProvider()`. */
export interface JwtBearerOptions extends RegisteredClientOptions {
  /** Returns the JWT that the authorization server trusts. Called whenever a token is needed. */
  assertion: (context: TokenRequestContext) => string | Promise<string>;
}

const bearerChecks: OptionChecks<JwtBearerOptions> = { ...registeredChecks, assertion: functionValue };

/**
 * Returns a provider for programs with a JWT of an issuer that the authorization server trusts: the platform they run on (workload
 * identity), or the identity provider of a company. The JWT is exchanged for a token, without a user.
 *
 * @see [RFC 7523, section 2.1 – Using JWTs as Authorization Grants](https://www.rfc-editor.org/rfc/rfc7523.html#section-2.1)
 */
export function createJwtBearerProvider(given: JwtBearerOptions): MCPOAuthClientProvider {
  checkOptions('createJwtBearerProvider', given, bearerChecks);
  const { assertion, ...options } = given;
  const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
  return createRegisteredClient(grantType, options, {
    tokenRequest: async (context) =>
      new URLSearchParams(
        defined({ grant_type: grantType, assertion: await assertion(context), scope: context.scope }),
      ),
  });
}

/** The identity provider at which the user is signed in. */
export interface IdentityProvider {
  tokenEndpoint: string | URL;
  clientId: string;
  clientSecret?: string;
  /** Returns the user's ID token. Called whenever an access token is needed. */
  idToken: () => string | Promise<string>;
}

/** Options of `createEnterpriseManagedProvider()`. */
export interface EnterpriseManagedOptions extends RegisteredClientOptions {
  /** The identity provider of the company, and the registration of the client there. */
  identityProvider: IdentityProvider;
  /** Your own fetch. */
  fetch?: Fetch;
}

const idJag = 'urn:ietf:params:oauth:token-type:id-jag';

const managedChecks: OptionChecks<EnterpriseManagedOptions> = {
  ...registeredChecks,
  identityProvider: objectOf<IdentityProvider>({
    ...unchecked<IdentityProvider>()('tokenEndpoint', 'clientId', 'clientSecret'),
    idToken: functionValue,
  }),
  fetch: functionValue,
};

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
export function createEnterpriseManagedProvider(given: EnterpriseManagedOptions): MCPOAuthClientProvider {
  checkOptions('createEnterpriseManagedProvider', given, managedChecks);
  const { identityProvider, fetch, ...options } = given;
  const { clientId, clientSecret, idToken } = identityProvider;
  const tokenEndpoint = requireSecureUrl(identityProvider.tokenEndpoint, 'the identity provider');
  // The application chose its address; the limits on time and size apply as well.
  const guardedFetch = createGuardedFetch({ fetch, serverUrl: tokenEndpoint });
  return createJwtBearerProvider({
    ...options,
    assertion: async ({ issuer, resource = '', scope }) => {
      try {
        const { ClientSecretPost, None } = await import('oauth4webapi');
        const grant = await sendTokenRequest({
          server: { issuer: tokenEndpoint.origin, token_endpoint: tokenEndpoint.href },
          clientId,
          authentication: clientSecret === undefined ? None() : ClientSecretPost(clientSecret),
          parameters: new URLSearchParams({
            grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
            requested_token_type: idJag,
            audience: issuer,
            resource,
            subject_token: await idToken(),
            subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
            ...defined({ scope }),
          }),
          fetch: guardedFetch,
          // RFC 8693, section 2.2.1: a grant is not an access token, and its type is "N_A".
          recognizedTokenTypes: { n_a: () => {} },
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
