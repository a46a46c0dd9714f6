/** Parameters of a challenge that tell how to get a better token. */
export interface Challenge {
  readonly resourceMetadataUrl?: URL;
  readonly scope?: string;
  readonly error?: string;
}

/**
 * Parses the `Bearer` or `DPoP` challenge of a `WWW-Authenticate` header. Ignores a metadata URL on another origin than the server.
 *
 * @see [RFC 9728, section 5.1 – WWW-Authenticate Response](https://www.rfc-editor.org/rfc/rfc9728.html#section-5.1)
 */
export function parseChallenge(header: string | undefined, serverUrl: URL): Challenge {
  const start = /(?:^|,)\s*(?:bearer|dpop)\s+/i.exec(header ?? '');
  if (!start || header === undefined) return {};
  const parameters = header.slice(start.index + start[0].length);
  const value = (name: string): string | undefined => {
    const found = new RegExp(`(?:^|[\\s,])${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s,"]+))`, 'i').exec(
      parameters,
    );
    return found?.[1] ?? found?.[2];
  };
  const resourceMetadataUrl = sameOriginUrl(value('resource_metadata'), serverUrl);
  const scope = value('scope');
  const error = value('error');
  return {
    ...(resourceMetadataUrl && { resourceMetadataUrl }),
    ...(scope !== undefined && scope !== '' && { scope }),
    ...(error !== undefined && { error }),
  };
}

function sameOriginUrl(text: string | undefined, serverUrl: URL): URL | undefined {
  try {
    const url = new URL(text ?? '');
    return url.origin === serverUrl.origin ? url : undefined;
  } catch {
    return undefined;
  }
}
