export interface ChallengeOptions {
  resourceMetadataUrl: string;
  /** The scopes a token needs, all of them. */
  scopes?: readonly string[];
  error?: string;
  errorDescription?: string;
}

/**
 * The `WWW-Authenticate` header that tells a client where to get a token, and for which scopes.
 *
 * @see [RFC 6750, section 3 – The WWW-Authenticate Response Header Field](https://www.rfc-editor.org/rfc/rfc6750.html#section-3)
 * @see [RFC 9728, section 5.1 – WWW-Authenticate Response](https://www.rfc-editor.org/rfc/rfc9728.html#section-5.1)
 */
export function generateWWWAuthenticateHeader({
  resourceMetadataUrl,
  scopes = [],
  error,
  errorDescription,
}: ChallengeOptions): string {
  const parameters = [`resource_metadata="${toHeaderText(resourceMetadataUrl)}"`];
  if (scopes.length > 0) parameters.push(`scope="${toHeaderText(scopes.join(' '))}"`);
  if (error !== undefined) parameters.push(`error="${toHeaderText(error)}"`);
  if (errorDescription !== undefined) parameters.push(`error_description="${toDescription(errorDescription)}"`);
  return `Bearer ${parameters.join(', ')}`;
}

const maxDescriptionLength = 512;

/** A sentence as `error_description` may carry it. Cut where it gets long: it may come from anywhere. */
export function toDescription(text: string): string {
  return toHeaderText(text.slice(0, maxDescriptionLength));
}

/**
 * Printable ASCII without quotes and backslashes.
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
