import { checkOptions, ignoredOptions, type OptionChecks, unchecked } from '@quiver/core/internal';

/** The token of a request, or why it is malformed; neither for a request without a token. */
export interface BearerToken {
  readonly token?: string;
  readonly reason?: string;
}

const bearer = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;
const maxTokenLength = 8192;

/**
 * Parses the bearer token of a request: all its `Authorization` headers, and its query, a token in which is never used.
 *
 * @see [RFC 6750, section 2.1 – Authorization Request Header Field](https://www.rfc-editor.org/rfc/rfc6750.html#section-2.1)
 */
export function parseBearerToken(authorization: readonly string[], query: string): BearerToken {
  const [header, ...more] = authorization;
  if (more.length > 0) return { reason: 'More than one Authorization header' };
  if (header === undefined || !/^bearer(\s|$)/i.test(header)) return {};
  const token = bearer.exec(header)?.[1];
  if (token === undefined) return { reason: 'The Authorization header is malformed' };
  if (query !== '' && new URLSearchParams(query).has('access_token'))
    return { reason: 'More than one way of sending a token' };
  // Real tokens stay below this; a client must not make the server hash and decode megabytes.
  return { token: token.length > maxTokenLength ? '' : token };
}

/** Returns the token of an `Authorization` header, or `undefined`. */
export function extractBearerToken(header: string | null | undefined): string | undefined {
  return parseBearerToken(typeof header === 'string' ? [header] : [], '').token || undefined;
}

/** Parts of a `WWW-Authenticate` challenge. */
export interface ChallengeOptions {
  /** URL of the resource metadata. */
  resourceMetadataUrl: string;
  /** All scopes that a token needs. */
  scopes?: readonly string[];
  /** OAuth error code, such as `invalid_token`. Default none: no token was sent. */
  error?: string;
  /** A sentence for the developer of the client. */
  errorDescription?: string;
}

const challengeChecks: OptionChecks<ChallengeOptions> = {
  ...unchecked<ChallengeOptions>()('resourceMetadataUrl', 'scopes', 'error', 'errorDescription'),
  ...ignoredOptions({ additionalParams: 'pass error and errorDescription.' }),
};

/**
 * Returns the `WWW-Authenticate` header that names the resource metadata and the scopes of a token.
 *
 * @see [RFC 6750, section 3 – The WWW-Authenticate Response Header Field](https://www.rfc-editor.org/rfc/rfc6750.html#section-3)
 * @see [RFC 9728, section 5.1 – WWW-Authenticate Response](https://www.rfc-editor.org/rfc/rfc9728.html#section-5.1)
 */
export function generateWWWAuthenticateHeader(options: ChallengeOptions): string {
  checkOptions('generateWWWAuthenticateHeader', options, challengeChecks);
  return toChallenge(options);
}

/** Challenge of a server that may have no metadata, because no authorization server issues its tokens. */
export type Challenge = Omit<ChallengeOptions, 'resourceMetadataUrl'> & { resourceMetadataUrl: string | undefined };

export function toChallenge({ resourceMetadataUrl, scopes = [], error, errorDescription }: Challenge): string {
  const parameters: string[] = [];
  if (resourceMetadataUrl !== undefined) parameters.push(`resource_metadata="${toHeaderText(resourceMetadataUrl)}"`);
  if (scopes.length > 0) parameters.push(`scope="${toHeaderText(scopes.join(' '))}"`);
  if (error !== undefined) parameters.push(`error="${toHeaderText(error)}"`);
  if (errorDescription !== undefined) parameters.push(`error_description="${toDescription(errorDescription)}"`);
  return `Bearer ${parameters.join(', ')}`.trimEnd();
}

const maxDescriptionLength = 512;

/** Returns a sentence in the characters of `error_description`. Limits its length, because its source may be untrusted. */
export function toDescription(text: string): string {
  return toHeaderText(text.slice(0, maxDescriptionLength));
}

/**
 * Returns printable ASCII without quotes and backslashes.
 *
 * @see [RFC 6750, section 3](https://www.rfc-editor.org/rfc/rfc6750.html#section-3): %x20-21 / %x23-5B / %x5D-7E
 */
function toHeaderText(text: string): string {
  return String(text)
    .replaceAll('"', "'")
    .replaceAll(/[^\x20-\x21\x23-\x5B\x5D-\x7E]+/g, ' ')
    .replaceAll(/ {2,}/g, ' ')
    .trim();
}
