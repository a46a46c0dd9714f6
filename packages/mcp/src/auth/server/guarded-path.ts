/**
 * Whether a request may reach what is served below a path, in any spelling that some router between here and there could take
 * for it: other case, doubled or trailing slashes, percent-encoding, `;parameters`, dot segments, backslashes.
 *
 * @param target - the path as it came over the wire, without the query
 * @param guarded - a path, in any spelling as well
 */
export function isGuardedPath(target: string, guarded: string): boolean {
  // A path that cannot be read guards everything.
  const prefix = normalise(guarded) ?? '/';
  if (target.toLowerCase().startsWith(prefix)) return true;
  const path = normalise(target);
  return path === undefined || path.startsWith(prefix);
}

/** `undefined` for what cannot be read as a path. */
function normalise(target: string): string | undefined {
  let path = target;
  // Some routers decode twice. What still changes afterwards is nothing a client sends in good faith.
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
