import { setTimeout as sleep } from 'node:timers/promises';
import { QuiverError } from '@quiver/core';
import type * as OAuth from 'oauth4webapi';
import type { Fetch } from '../../http/send.js';
import type { OAuthDiscoveryState, StoredOAuthClientInformation } from '../../protocol/oauth-types.js';
import { basicAuthorization } from '../basic-authorization.js';
import { isLoopbackHost } from '../secure-url.js';
import { discover, issuerOf, toAuthorizationServer } from './discover.js';
import { oauthErrorCodeOf, reasonOf } from './oauth-error.js';
import { requireTokenType, type AuthorizationTarget, type KeptTokens, type SignInPolicy } from './sign-in-state.js';

export interface TokenRequest {
  readonly discovered: OAuthDiscoveryState;
  readonly clientInformation: StoredOAuthClientInformation;
  /** Parameters of the grant, with `grant_type`. */
  readonly parameters: Record<string, string> | URLSearchParams;
  /** Members that the response may omit. RFC 6749, section 5.1: without a scope, the requested one was granted. */
  readonly defaults: { readonly [Name in 'refresh_token' | 'scope' | 'requested_scope']?: string | undefined };
}

const tokenMembers = new Set(['access_token', 'token_type', 'expires_in', 'refresh_token', 'scope', 'id_token']);

/**
 * Requests tokens for the discovered resource and stores them.
 *
 * @throws errors of `oauth4webapi`; `OAUTH_TOKEN_TYPE_UNSUPPORTED` for tokens that are neither Bearer nor DPoP tokens
 * @see [RFC 8707, section 2.2 – Access Token Request](https://www.rfc-editor.org/rfc/rfc8707.html#section-2.2)
 */
export async function requestTokens(
  { signIn, policy, fetch }: Pick<AuthorizationTarget, 'signIn' | 'policy' | 'fetch'>,
  { discovered, clientInformation, parameters: grant, defaults }: TokenRequest,
): Promise<KeptTokens> {
  const library = await import('oauth4webapi');
  const parameters = new URLSearchParams(grant);
  const { resource } = discovered.resourceMetadata ?? {};
  if (resource !== undefined) parameters.set('resource', resource);
  const response = await sendTokenRequest({
    server: toAuthorizationServer(discovered),
    clientId: clientInformation.client_id,
    authentication: chooseAuthentication(library, policy, discovered, clientInformation),
    parameters,
    fetch,
    dpop: await signIn.dpopHandle(discovered),
  }).catch((error: unknown) => {
    const { cause } = error as { cause?: { body?: { token_type?: unknown } } };
    if (cause?.body?.token_type !== undefined) requireTokenType(cause.body.token_type);
    throw error;
  });
  const received = Object.entries(response).filter(([name]) => tokenMembers.has(name));
  // Not every storage of an application accepts undefined members.
  const given = Object.entries(defaults).filter(([, value]) => value !== undefined);
  const issuer = issuerOf(discovered);
  // Safe: the library has checked the members of the response.
  const tokens = { ...Object.fromEntries([...given, ...received]), issuer } as KeptTokens;
  await signIn.saveTokens(tokens, issuer);
  return tokens;
}

export interface TokenEndpointRequest {
  readonly server: OAuth.AuthorizationServer;
  readonly clientId: string;
  readonly authentication: OAuth.ClientAuth;
  readonly parameters: URLSearchParams;
  readonly fetch: Fetch;
  readonly dpop?: OAuth.DPoPHandle | undefined;
  /** Token types other than `bearer` and `dpop`, in lower case. */
  readonly recognizedTokenTypes?: OAuth.RecognizedTokenTypes;
}

/** Sends a request to a token endpoint, and once more when the server requires a nonce in the proof. */
export async function sendTokenRequest(request: TokenEndpointRequest): Promise<OAuth.TokenEndpointResponse> {
  const library = await import('oauth4webapi');
  const { server, authentication, parameters, fetch, dpop, recognizedTokenTypes = {} } = request;
  const { token_endpoint: endpoint = '' } = server;
  const client = { client_id: request.clientId };
  const options: OAuth.TokenEndpointRequestOptions = {
    ...(dpop && { DPoP: dpop }),
    [library.customFetch]: async (url, { method, headers, body }) =>
      normalize(await fetch(url, { method, headers, body })),
    // `http` is for loopback addresses only, which the address guard checks as well.
    [library.allowInsecureRequests]: URL.canParse(endpoint) && isLoopbackHost(new URL(endpoint).hostname),
  };
  const type = parameters.get('grant_type') ?? '';
  const send = async (): Promise<OAuth.TokenEndpointResponse> => {
    const response = await library.genericTokenEndpointRequest(
      server,
      client,
      authentication,
      type,
      parameters,
      options,
    );
    return library.processGenericTokenEndpointResponse(server, client, response, { recognizedTokenTypes });
  };
  return send().catch((error: unknown) => {
    // RFC 9449, section 8: the handle has stored the nonce of the response.
    if (dpop && library.isDPoPNonceError(error)) return send();
    throw error;
  });
}

/** Some servers send an error with status 200, or tokens with 201. A challenge would hide the error code of the body. */
async function normalize(response: Response): Promise<Response> {
  const text = await response.text();
  const headers = new Headers(response.headers);
  headers.delete('www-authenticate');
  const isError = response.ok && /"error"\s*:/.test(text) && !/"access_token"\s*:/.test(text);
  return new Response(text, { status: isError ? 400 : response.ok ? 200 : response.status, headers });
}

const secretMethods = ['client_secret_basic', 'client_secret_post', 'none'];

/** Returns how the client authenticates: the registered method, otherwise the first one that it and the server support. */
function chooseAuthentication(
  library: typeof OAuth,
  { addClientAuthentication }: SignInPolicy,
  { authorizationServerMetadata: metadata }: OAuthDiscoveryState,
  clientInformation: StoredOAuthClientInformation,
): OAuth.ClientAuth {
  if (addClientAuthentication) {
    return (server, _client, body, headers) =>
      addClientAuthentication(headers, body, String(server.token_endpoint), metadata);
  }
  const { client_id: id, client_secret: secret } = clientInformation;
  if (secret === undefined) return library.None();
  const registered = 'token_endpoint_auth_method' in clientInformation && clientInformation.token_endpoint_auth_method;
  const supported = metadata?.token_endpoint_auth_methods_supported ?? [];
  const usable = secretMethods.filter((method) => supported.length === 0 || supported.includes(method));
  const method = usable.find((candidate) => candidate === registered) ?? usable[0];
  if (method === 'none') return library.None();
  // ClientSecretBasic of the library also encodes `-`, `_` and `.`, and servers that do not decode reject the client.
  if (method === 'client_secret_basic') {
    return (_server, _client, _body, headers) => headers.set('authorization', basicAuthorization(id, secret));
  }
  return library.ClientSecretPost(secret);
}

/** Milliseconds before each further attempt while the authorization server is unavailable. */
const pauses = [100, 400];

/**
 * Exchanges the stored refresh token at its authorization server, exclusively among all that share the storage.
 *
 * @param suffices - recognizes the tokens of another process, which has refreshed meanwhile
 * @returns the new tokens, stored; `undefined` when the user has to sign in
 * @throws `OAUTH_UNAVAILABLE` while the authorization server is unavailable: the tokens are kept
 */
export function refreshTokens(
  target: AuthorizationTarget,
  suffices: (stored: KeptTokens) => boolean,
): Promise<KeptTokens | undefined> {
  const { signIn, serverUrl } = target;
  return signIn.values.exclusive(async () => {
    for (let attempt = 0; ; attempt += 1) {
      const stored = await signIn.tokens();
      if (!stored || suffices(stored)) return stored;
      try {
        const refreshed = await tryRefresh(target, stored);
        if (refreshed) return refreshed;
        // A process that shares the storage without a lock may have used the refresh token first.
        const newer = await signIn.tokens();
        return newer && suffices(newer) ? newer : undefined;
      } catch (error) {
        // Another attempt does not change a rejection of the guard or the provider.
        if (error instanceof QuiverError && error.code !== 'OAUTH_UNAVAILABLE') throw error;
        const pause = pauses[attempt];
        if (pause === undefined) {
          throw new QuiverError(
            'OAUTH_UNAVAILABLE',
            `The authorization server of ${serverUrl.origin} did not refresh the token (${reasonOf(error)}). The sign-in is kept; try again later.`,
          );
        }
        await sleep(pause);
      }
    }
  });
}

const outageCodes = new Set(['server_error', 'temporarily_unavailable', 'too_many_requests']);

/** Returns `undefined` when the user has to sign in. */
async function tryRefresh(target: AuthorizationTarget, tokens: KeptTokens): Promise<KeptTokens | undefined> {
  const { signIn } = target;
  const { access_token, refresh_token, scope, requested_scope } = tokens;
  if (refresh_token === undefined) return undefined;
  const discovered = (await signIn.discoveryState()) ?? (await discover(target));
  const issuer = issuerOf(discovered);
  const clientInformation = await signIn.clientInformation(issuer);
  if ((tokens.issuer ?? issuer) !== issuer || !clientInformation) return undefined;
  try {
    return await requestTokens(target, {
      discovered,
      clientInformation,
      parameters: { grant_type: 'refresh_token', refresh_token },
      // RFC 6749, section 6: without a new refresh token or scope, the old ones remain valid.
      defaults: { refresh_token, scope, requested_scope },
    });
  } catch (error) {
    const code = oauthErrorCodeOf(error);
    if (code === undefined || outageCodes.has(code)) throw error;
    // invalid_grant, invalid_client and the like: this token will not work again. Newer tokens of another process remain.
    const stored = await signIn.tokens();
    if (stored?.access_token === access_token && stored.refresh_token === refresh_token) {
      await signIn.invalidate('tokens');
    }
    if (code === 'invalid_client' || code === 'unauthorized_client') await signIn.invalidate('client');
    return undefined;
  }
}
