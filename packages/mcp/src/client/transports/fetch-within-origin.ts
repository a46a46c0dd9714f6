type PlainFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const maxRedirects = 5;

/**
 * Follows redirects that stay with the server, and no others: the platform's `fetch` takes every header but `Authorization`
 * along to another origin, keys of a server's own among them.
 *
 * @throws `TypeError`, as `fetch` does, for a redirect to another origin, and after five redirects
 * @see [Fetch, HTTP-redirect fetch](https://fetch.spec.whatwg.org/#http-redirect-fetch)
 */
export async function fetchWithinOrigin(
  fetch: PlainFetch,
  url: string | URL,
  init: RequestInit = {},
): Promise<Response> {
  let at = new URL(url);
  let request: RequestInit = { ...init, redirect: 'manual' };
  for (let count = 0; ; count += 1) {
    const response = await fetch(at, request);
    const { status } = response;
    const location = response.headers.get('location');
    if (!redirects.has(status) || location === null) return response;
    await response.body?.cancel();
    const next = new URL(location, at);
    if (next.origin !== at.origin)
      throw new TypeError(
        `fetch failed: the server redirects from ${at.origin} to ${next.origin}. Use that as its URL.`,
      );
    if (count >= maxRedirects) throw new TypeError(`fetch failed: more than ${maxRedirects} redirects`);
    const isKept = status === 307 || status === 308 || (status !== 303 && request.method !== 'POST');
    if (!isKept) request = withoutBody(request);
    at = next;
  }
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function withoutBody(request: RequestInit): RequestInit {
  const left = new Headers(request.headers);
  for (const name of ['content-type', 'content-length', 'content-encoding', 'content-language']) left.delete(name);
  const { body: _body, ...rest } = request;
  return { ...rest, method: 'GET', headers: left };
}
