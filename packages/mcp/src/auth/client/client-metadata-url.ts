import { QuiverError } from '@quiver/core';

/**
 * The address of a client's own description, which is its id as well: https, with a path.
 *
 * @throws `OAUTH_CLIENT_METADATA_URL_INVALID`
 * @see [OAuth Client ID Metadata Document, section 3](https://datatracker.ietf.org/doc/html/draft-ietf-oauth-client-id-metadata-document#section-3)
 */
export function requireClientMetadataUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const { protocol, pathname, username, hash } = parsed ?? {};
  if (protocol === 'https:' && pathname !== '/' && username === '' && hash === '') return url;
  throw new QuiverError(
    'OAUTH_CLIENT_METADATA_URL_INVALID',
    'clientMetadataUrl must be an https URL with a path and without a fragment, such as https://app.example.com/client.json.',
  );
}
