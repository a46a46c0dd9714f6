/** Cookies of a browser, by origin. */
export type Cookies = Map<string, Map<string, string>>;

/**
 * Acts as a user with a browser: stores cookies, follows redirects, including those to localhost, and presses “Allow”.
 *
 * @returns the text of the last page
 */
export async function visit(page: URL, cookies: Cookies = new Map()): Promise<string> {
  let url = page;
  let method = 'GET';
  for (;;) {
    const jar = cookies.get(url.origin) ?? new Map<string, string>();
    cookies.set(url.origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { method, redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    const location = response.headers.get('location');
    const text = await response.text();
    if (location !== null) [url, method] = [new URL(location, url), 'GET'];
    else if (text.includes('<form method="post">')) method = 'POST';
    else return text;
  }
}
