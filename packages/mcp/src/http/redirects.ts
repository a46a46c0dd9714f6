import type { HttpCall, HttpResponse, Send } from './send.js';

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const maxRedirects = 5;

/**
 * Follows redirects within the origin of the server, so that no header leaves it. A redirect that would change the method is not
 * followed either.
 */
export async function followRedirects(
  send: Send,
  from: URL,
  call: HttpCall,
  first: HttpResponse,
): Promise<HttpResponse> {
  let url = from;
  let response = first;
  for (let followed = 0; followed < maxRedirects; followed += 1) {
    const target = redirectTarget(url, response);
    const keepsMethod = call.method === 'GET' || response.status === 307 || response.status === 308;
    if (!target || !keepsMethod || !isWithinOrigin(url, target)) break;
    response.discard();
    url = target;
    response = await send(url, call);
  }
  return response;
}

/** Returns where a redirect leads, or `undefined` for other responses. */
export function redirectTarget(url: URL, response: HttpResponse): URL | undefined {
  const location = redirectStatuses.has(response.status) ? response.header('location') : undefined;
  return location !== undefined && URL.canParse(location, url.href) ? new URL(location, url) : undefined;
}

/** The same origin, or https instead of http on the default ports. Credentials in the address must not change. */
function isWithinOrigin(from: URL, to: URL): boolean {
  const hasCredentials = to.username !== '' || to.password !== '';
  if (hasCredentials && (to.username !== from.username || to.password !== from.password)) return false;
  if (from.origin === to.origin) return true;
  const isUpgrade = from.protocol === 'http:' && to.protocol === 'https:';
  return isUpgrade && from.hostname === to.hostname && from.port === '' && to.port === '';
}
