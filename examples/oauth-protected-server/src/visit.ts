/** Acts as a user with a browser: stores cookies, follows redirects, including those to localhost, and presses “Allow”. */
export async function visit(page: URL): Promise<void> {
  const cookies = new Map<string, string>();
  let url = page;
  let method = 'GET';
  for (;;) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: url.origin === page.origin ? { cookie } : {},
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    const location = response.headers.get('location');
    if (location !== null) [url, method] = [new URL(location, url), 'GET'];
    else if ((await response.text()).includes('<form method="post">')) method = 'POST';
    else return;
  }
}
