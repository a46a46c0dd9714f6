/** What a 401 or 403 says about how to get a better token. */
export interface Challenge {
  readonly resourceMetadataUrl?: URL;
  readonly scope?: string;
  readonly error?: string;
}

/** Reads the `Bearer` challenge of a response; a URL on another origin than the server's is ignored. */
export function challengeOf(response: Response, serverUrl: URL): Challenge {
  const header = response.headers.get('www-authenticate') ?? '';
  const start = /(?:^|,)\s*bearer\s+/i.exec(header);
  if (!start) return {};
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
