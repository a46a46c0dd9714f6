/**
 * Whether a request may reach what is served below a path, in any spelling that a router may accept for it: other case, doubled or
 * trailing slashes, percent-encoding, `;parameters`, dot segments, backslashes.
 *
 * @param target - the path as received, without the query
 * @param protectedPath - a path, in any spelling as well
 */
export function isProtectedPath(target: string, protectedPath: string): boolean {
  // A path that cannot be parsed protects everything.
  const prefix = normalize(protectedPath) ?? '/';
  if (target.toLowerCase().startsWith(prefix)) return true;
  const path = normalize(target);
  return path === undefined || path.startsWith(prefix);
}

/** Returns `undefined` for a path that cannot be parsed. */
function normalize(target: string): string | undefined {
  let path = target;
  // Some routers decode twice. No client sends more levels in good faith.
  for (let round = 0; round < 3; round += 1) {
    let decoded: string;
    try {
      decoded = decodeURIComponent(path);
    } catch {
      return undefined;
    }
    if (decoded === path) break;
    path = decoded;
  }
  if (path.includes('%')) return undefined;
  const kept: string[] = [];
  for (const part of path.replaceAll('\\', '/').split('/')) {
    const segment = part.replace(/;.*$/s, '').trim();
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment.toLowerCase());
  }
  return `/${kept.join('/')}`;
}
