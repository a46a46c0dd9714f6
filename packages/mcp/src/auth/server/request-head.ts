import type { IncomingMessage } from 'node:http';

export interface RequestHead {
  readonly method: string;
  /** Every spelling of the path that a later handler may use; first the one that the client sent. */
  readonly paths: readonly string[];
  readonly query: string;
  readonly authorization: readonly string[];
  readonly origin: string | undefined;
  /** Returns all headers, by their names in lower case. */
  readonly readHeaders: () => Readonly<Record<string, string>>;
}

/** @param url - as the application routes the request */
export function headOfNode(req: IncomingMessage & { originalUrl?: string }, url?: URL): RequestHead {
  const target = req.url ?? '/';
  return {
    method: req.method ?? 'GET',
    paths: [...pathsOf(req.originalUrl ?? target), ...pathsOf(target), ...(url ? [url.pathname] : [])],
    query: queryOf(target),
    authorization: authorizationOf(req),
    origin: req.headers.origin,
    readHeaders: () => headersOfNode(req),
  };
}

export function headOfWeb(request: Request): RequestHead {
  const { pathname, search } = new URL(request.url);
  const authorization = request.headers.get('authorization');
  return {
    method: request.method,
    paths: [pathname],
    query: search,
    authorization: authorization === null ? [] : [authorization],
    origin: request.headers.get('origin') ?? undefined,
    readHeaders: () => Object.fromEntries(request.headers),
  };
}

/** Returns the headers of a request. One that came several times is joined with commas. */
export function headersOfNode({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value = '']) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

/** A path that every parser reads in the same way. */
const plainPath = /^(?:\/[\w-]+)+$/;

/**
 * Returns the path of a target without its origin (`GET http://host/path`), and the path that `new URL()` reads: it takes the first
 * name of `//name/path` for a host.
 */
function pathsOf(target: string): string[] {
  if (plainPath.test(target)) return [target];
  const [path] = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').split('?');
  const base = 'http://localhost';
  return [path || '/', ...(URL.canParse(target, base) ? [new URL(target, base).pathname] : [])];
}

function queryOf(target: string): string {
  const at = target.indexOf('?');
  return at === -1 ? '' : target.slice(at + 1);
}

/** Node keeps only the first of several headers in `headers`, so they are counted where nothing is lost. */
function authorizationOf({ rawHeaders, headers }: IncomingMessage): string[] {
  const values: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 13 && name.toLowerCase() === 'authorization') values.push(rawHeaders[at + 1]!);
  }
  return values.length === 0 && headers.authorization !== undefined ? [headers.authorization] : values;
}
