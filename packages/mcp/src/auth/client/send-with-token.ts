import { QuiverError } from '@quiver/core';
import type { KeptTokens, MCPOAuthClientProvider } from './oauth-client-provider.js';

/** The head of a response of `fetch` or of the client's transport. */
export interface ResponseHead {
  readonly status: number;
  /** Returns a header by its lower-case name. */
  header(name: string): string | undefined;
  discard(): void;
}

/** Headers that authorize a request. Both names are present, so that those of an earlier attempt are overwritten. */
export interface AuthorizationHeaders {
  readonly authorization: string | undefined;
  readonly dpop: string | undefined;
}

export type SendWithHeaders<Head extends ResponseHead> = (headers: AuthorizationHeaders) => Promise<Head>;

export interface AuthorizedTarget {
  readonly url: URL;
  readonly method: string;
}

/**
 * Sends a request with a token: in the `Bearer` scheme, or with a proof when the token is bound to the client's key.
 *
 * @throws `OAUTH_TOKEN_INVALID` for a token that no header can carry
 */
export function sendWithToken<Head extends ResponseHead>(
  provider: MCPOAuthClientProvider,
  tokens: KeptTokens | undefined,
  target: AuthorizedTarget,
  send: SendWithHeaders<Head>,
): Promise<Head> {
  if (!tokens) return send({ authorization: undefined, dpop: undefined });
  const token = tokens.access_token.trim();
  if (!/^[\x20-\x7E]+$/.test(token)) {
    // The platform would reject it as well, and quote it.
    const message = `The access token for ${target.url.origin} contains characters that no header can carry. Sign in again, or check its source.`;
    return Promise.reject(new QuiverError('OAUTH_TOKEN_INVALID', message));
  }
  if (tokens.token_type.toLowerCase() === 'dpop') return sendWithProof(provider, token, target, send);
  return send({ authorization: `Bearer ${token}`, dpop: undefined });
}

/**
 * Sends a request with a DPoP proof, and once more when the server requires a nonce. The server did not execute a request that it
 * rejected with a nonce challenge.
 *
 * @see [RFC 9449, section 7 – Protected Resource Access](https://www.rfc-editor.org/rfc/rfc9449.html#section-7)
 */
async function sendWithProof<Head extends ResponseHead>(
  provider: MCPOAuthClientProvider,
  token: string,
  { url, method }: AuthorizedTarget,
  send: SendWithHeaders<Head>,
): Promise<Head> {
  const library = await import('oauth4webapi');
  const proofs = await provider.dpopHandle();
  const attempt = async (): Promise<{ response: Head; isNonceRequired: boolean }> => {
    let response: Head | undefined;
    try {
      await library.protectedResourceRequest(token, method, url, undefined, undefined, {
        ...(proofs && { DPoP: proofs }),
        // The user chose this URL; Bearer tokens are sent to it, too.
        [library.allowInsecureRequests]: true,
        // Only the head passes through the library: the body may be an event stream.
        [library.customFetch]: async (_url, { headers }) => {
          response = await send({ authorization: headers['authorization'], dpop: headers['dpop'] });
          return new Response(null, { status: response.status, headers: headersForLibrary(response) });
        },
      });
    } catch (error) {
      if (!response) throw error;
      return { response, isNonceRequired: library.isDPoPNonceError(error) };
    }
    // Without an error, customFetch has been called.
    return { response: response as unknown as Head, isNonceRequired: false };
  };
  const first = await attempt();
  if (!first.isNonceRequired) return first.response;
  first.response.discard();
  return (await attempt()).response;
}

function headersForLibrary(response: ResponseHead): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of ['dpop-nonce', 'www-authenticate']) {
    const value = response.header(name);
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}
