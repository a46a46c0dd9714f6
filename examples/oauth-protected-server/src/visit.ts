/** Does what a browser does on the sign-in page: keeps cookies and follows redirects, back to this machine too. */
export async function visit(page: URL): Promise<void> {
  const cookies = new Map<string, string>();
  let url: URL | undefined = page;
  while (url) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response: Response = await fetch(url, {
      redirect: 'manual',
      headers: url.origin === page.origin ? { cookie } : {},
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    const location = response.headers.get('location');
    url = location === null ? undefined : new URL(location, url);
  }
}
