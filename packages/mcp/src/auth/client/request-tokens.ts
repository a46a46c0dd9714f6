import { QuiverError } from '@quiver/core';
import type * as OAuth from 'oauth4webapi';
import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '../../protocol/oauth-types.js';
import type { Fetch } from '../../fetch.js';
import { basicAuthorization } from '../basic-authorization.js';
import { isLoopbackHost } from '../secure-url.js';
import { issuerOf } from './discover.js';
import type { MCPOAuthClientProvider } from './oauth-client-provider.js';

export interface TokenRequest {
  readonly provider: MCPOAuthClientProvider;
  readonly discovered: OAuthDiscoveryState;
  readonly clientInformation: StoredOAuthClientInformation;
  /** For URLs that servers name. */
  readonly fetch: Fetch;
}

export type Grant =
  | { readonly type: 'code'; readonly callback: URLSearchParams; readonly codeVerifier: string }
  | { readonly type: 'refresh'; readonly refreshToken: string }
  /** A grant without a user; `parameters` include `grant_type`. */
  | { readonly type: 'direct'; readonly parameters: URLSearchParams };

/**
 * Sends a token request for the discovered resource, with the client authentication that the server supports and, if the provider
 * uses DPoP, a proof.
 *
 * @throws errors of `oauth4webapi`; `OAUTH_TOKEN_TYPE_UNSUPPORTED` for tokens that are neither Bearer nor DPoP tokens
 * @see [RFC 8707, section 2.2 – Access Token Request](https://www.rfc-editor.org/rfc/rfc8707.html#section-2.2)
 */
export async function requestTokens(request: TokenRequest, grant: Grant): Promise<StoredOAuthTokens> {
  const library = await import('oauth4webapi');
  const { provider, discovered, clientInformation } = request;
  const server = toAuthorizationServer(discovered);
  const client: OAuth.Client = { client_id: clientInformation.client_id };
  const authentication = chooseAuthentication(library, request);
  const { resource } = discovered.resourceMetadata ?? {};
  const additionalParameters = new URLSearchParams(resource === undefined ? {} : { resource });
  const dpop = await provider.dpopHandle(discovered);
  const options = { ...tokenEndpointOptions(library, server, request.fetch), ...(dpop && { DPoP: dpop }) };
  const send = async (): Promise<OAuth.TokenEndpointResponse> => {
    if (grant.type === 'code') {
      const { callback, codeVerifier } = grant;
      const redirectUrl = String(provider.redirectUrl ?? '');
      const response = await library.authorizationCodeGrantRequest(
        server,
        client,
        authentication,
        callback,
        redirectUrl,
        codeVerifier,
        { ...options, additionalParameters },
      );
      return library.processAuthorizationCodeResponse(server, client, response);
    }
    if (grant.type === 'refresh') {
      const more = { ...options, additionalParameters };
      const { refreshToken } = grant;
      const response = await library.refreshTokenGrantRequest(server, client, authentication, refreshToken, more);
      return library.processRefreshTokenResponse(server, client, response);
    }
    const parameters = new URLSearchParams(grant.parameters);
    if (resource !== undefined) parameters.set('resource', resource);
    const type = parameters.get('grant_type') ?? '';
    const response = await library.genericTokenEndpointRequest(
      server,
      client,
      authentication,
      type,
      parameters,
      options,
    );
    return library.processGenericTokenEndpointResponse(server, client, response);
  };
  try {
    const response = await send().catch((error: unknown) => {
      // RFC 9449, section 8: the handle has stored the nonce of the response.
      if (dpop && library.isDPoPNonceError(error)) return send();
      throw error;
    });
    return pickTokens(response);
  } catch (error) {
    throw unsupportedTokenType(error) ?? error;
  }
}

/** Leaves out other members, which would end up in the storage next to ours. */
function pickTokens(response: OAuth.TokenEndpointResponse): StoredOAuthTokens {
  const { access_token, token_type, expires_in, refresh_token, scope, id_token } = response;
  return {
    access_token,
    token_type,
    ...(expires_in !== undefined && { expires_in }),
    ...(refresh_token !== undefined && { refresh_token }),
    ...(scope !== undefined && { scope }),
    ...(id_token !== undefined && { id_token }),
  };
}

/** Returns the metadata of a server; without metadata, the default endpoints of protocol version 2025-03-26. */
export function toAuthorizationServer(discovered: OAuthDiscoveryState): OAuth.AuthorizationServer {
  const { authorizationServerUrl, authorizationServerMetadata } = discovered;
  // Safe: both describe RFC 8414; discovery has checked the members that are read.
  if (authorizationServerMetadata) return authorizationServerMetadata as OAuth.AuthorizationServer;
  const endpoint = (path: string): string => new URL(path, authorizationServerUrl).href;
  return {
    issuer: issuerOf(discovered),
    authorization_endpoint: endpoint('/authorize'),
    token_endpoint: endpoint('/token'),
    registration_endpoint: endpoint('/register'),
  };
}

type Library = typeof OAuth;

/** Returns the options of every token request. */
export function tokenEndpointOptions(
  library: Library,
  { token_endpoint: endpoint = '' }: OAuth.AuthorizationServer,
  fetch: Fetch,
): OAuth.HttpRequestOptions<'POST', URLSearchParams> {
  return {
    [library.customFetch]: async (url, { method, headers, body }) =>
      normalize(await fetch(url, { method, headers, body })),
    // `http` is for loopback addresses only, which the address guard checks as well.
    [library.allowInsecureRequests]: URL.canParse(endpoint) && isLoopbackHost(new URL(endpoint).hostname),
  };
}

/**
 * Some servers send an error with status 200, or tokens with 201. A challenge is removed because it would hide the error code in the
 * body, which RFC 6749 requires.
 *
 * @see [RFC 6749, section 5.2 – Error Response](https://www.rfc-editor.org/rfc/rfc6749.html#section-5.2)
 */
async function normalize(response: Response): Promise<Response> {
  const text = await response.text();
  const headers = new Headers(response.headers);
  headers.delete('www-authenticate');
  const isError = response.ok && /"error"\s*:/.test(text) && !/"access_token"\s*:/.test(text);
  const status = isError ? 400 : response.ok ? 200 : response.status;
  return new Response(text, { status, headers });
}

/** Returns how the client authenticates: the registered method, otherwise the first one that it and the server support. */
function chooseAuthentication(
  library: Library,
  { provider, discovered, clientInformation }: TokenRequest,
): OAuth.ClientAuth {
  const { addClientAuthentication } = provider;
  const metadata = discovered.authorizationServerMetadata;
  if (addClientAuthentication) {
    return (server, _client, body, headers) =>
      addClientAuthentication(headers, body, String(server.token_endpoint), metadata);
  }
  const { client_id: id, client_secret: secret } = clientInformation;
  const supported = metadata?.token_endpoint_auth_methods_supported ?? [];
  const registered = 'token_endpoint_auth_method' in clientInformation && clientInformation.token_endpoint_auth_method;
  const candidates = secret === undefined ? ['none'] : ['client_secret_basic', 'client_secret_post', 'none'];
  const isUsable = (method: string): boolean => supported.length === 0 || supported.includes(method);
  const method = [...(registered === false ? [] : [registered]), ...candidates].find(
    (candidate) => candidate !== undefined && candidates.includes(candidate) && isUsable(candidate),
  );
  if (secret === undefined || method === 'none') return library.None();
  // ClientSecretBasic of the library also encodes `-`, `_` and `.`, and servers that do not decode reject the client.
  if (method === 'client_secret_basic') {
    return (_server, _client, _body, headers) => headers.set('authorization', basicAuthorization(id, secret));
  }
  return library.ClientSecretPost(secret);
}

function unsupportedTokenType(error: unknown): QuiverError | undefined {
  const { code, cause } = error as { code?: unknown; cause?: { body?: { token_type?: unknown } } };
  const type = cause?.body?.token_type;
  if (code !== 'OAUTH_UNSUPPORTED_OPERATION' || typeof type !== 'string') return undefined;
  return new QuiverError(
    'OAUTH_TOKEN_TYPE_UNSUPPORTED',
    `The authorization server issued a token of type '${type.slice(0, 40)}'. Only Bearer and DPoP tokens are supported.`,
  );
}
