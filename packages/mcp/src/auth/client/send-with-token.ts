import { QuiverError } from '@quiver/core';
import type { KeptTokens, SignIn } from './sign-in-state.js';

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

export interface AuthorizedRequest {
  readonly url: URL;
  readonly method: string;
}

/**
 * Sends a request with a token: in the `Bearer` scheme, or with a proof when the token is bound to the client's key.
 *
 * @throws `OAUTH_TOKEN_INVALID` for a token that no header can carry
 */
export async function sendWithToken<Head extends ResponseHead>(
  signIn: SignIn,
  tokens: KeptTokens | undefined,
  request: AuthorizedRequest,
  send: SendWithHeaders<Head>,
): Promise<Head> {
  if (!tokens) return send({ authorization: undefined, dpop: undefined });
  const token = tokens.access_token.trim();
  if (!/^[\x20-\x7E]+$/.test(token)) {
    // The platform would reject it as well, and quote it.
    throw new QuiverError(
      'OAUTH_TOKEN_INVALID',
      `The access token for ${request.url.origin} contains characters that no header can carry. Sign in again, or check its source.`,
    );
  }
  if (tokens.token_type.toLowerCase() !== 'dpop') return send({ authorization: `Bearer ${token}`, dpop: undefined });
  const first = await sendWithProof(signIn, token, request, send);
  if (!first.isNonceRequired) return first.response;
  // Rejected unread: see `repeats`.
  first.response.discard();
  return (await sendWithProof(signIn, token, request, send)).response;
}

/** @see [RFC 9449, section 7 – Protected Resource Access](https://www.rfc-editor.org/rfc/rfc9449.html#section-7) */
async function sendWithProof<Head extends ResponseHead>(
  signIn: SignIn,
  token: string,
  { url, method }: AuthorizedRequest,
  send: SendWithHeaders<Head>,
): Promise<{ response: Head; isNonceRequired: boolean }> {
  const library = await import('oauth4webapi');
  const proofs = await signIn.dpopHandle();
  let response: Head | undefined;
  let failure: unknown;
  await library
    .protectedResourceRequest(token, method, url, undefined, undefined, {
      ...(proofs && { DPoP: proofs }),
      // The user chose this URL; Bearer tokens are sent to it, too.
      [library.allowInsecureRequests]: true,
      // The library creates the proof and stores the nonce of the response. Only the head passes through it: the body may be an event stream.
      [library.customFetch]: async (_url, { headers }) => {
        response = await send({ authorization: headers['authorization'], dpop: headers['dpop'] });
        const head = new Headers();
        for (const name of ['dpop-nonce', 'www-authenticate']) head.set(name, response.header(name) ?? '');
        return new Response(null, { status: response.status, headers: head });
      },
    })
    .catch((error: unknown) => (failure = error));
  if (!response) throw failure;
  return { response, isNonceRequired: library.isDPoPNonceError(failure) };
}

/** Parameters of a challenge that tell how to get a better token. */
export interface Challenge {
  readonly resourceMetadataUrl: URL | undefined;
  readonly scope: string | undefined;
  readonly error: string | undefined;
}

/**
 * Parses the `Bearer` or `DPoP` challenge of a response. Ignores a metadata URL on another origin than the server.
 *
 * @see [RFC 9728, section 5.1 – WWW-Authenticate Response](https://www.rfc-editor.org/rfc/rfc9728.html#section-5.1)
 */
export function parseChallenge(response: ResponseHead, serverUrl: URL): Challenge {
  const header = response.header('www-authenticate') ?? '';
  const [, parameters = ''] = /(?:^|,)\s*(?:bearer|dpop)\s+(.*)$/is.exec(header) ?? [];
  const value = (name: string): string | undefined => {
    const pattern = new RegExp(`(?:^|[\\s,])${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s,"]+))`, 'i');
    const [, quoted, plain] = pattern.exec(parameters) ?? [];
    return (quoted ?? plain) || undefined;
  };
  const metadata = value('resource_metadata') ?? '';
  const url = URL.canParse(metadata) ? new URL(metadata) : undefined;
  const resourceMetadataUrl = url?.origin === serverUrl.origin ? url : undefined;
  return { resourceMetadataUrl, scope: value('scope'), error: value('error') };
}
