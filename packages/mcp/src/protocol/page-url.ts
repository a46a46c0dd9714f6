/** Host names of this machine, as URLs write them. */
export const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Returns the URL of a page that a user may be sent to: encrypted, or on a loopback address; `undefined` for another one. */
export function parsePageUrl(url: unknown): URL | undefined {
  const parsed = URL.canParse(String(url)) ? new URL(String(url)) : undefined;
  const isSafe =
    parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && loopbackNames.includes(parsed.hostname));
  return isSafe ? parsed : undefined;
}
