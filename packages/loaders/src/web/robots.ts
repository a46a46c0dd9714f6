import { QuiverError } from '@quiver/core';
import { requestFailed, type PageCheck, type PageClient } from './page-client.js';

interface Rule {
  readonly isAllowed: boolean;
  /** Parts of the path between `*`. */
  readonly parts: readonly string[];
  /** Whether the path ends where the rule ends, because of `$`. */
  readonly isWhole: boolean;
  readonly length: number;
}

/** Part of a file that is read, as RFC 9309 requires at least. */
const maxLength = 512_000;
const maxRules = 10_000;

/**
 * Returns the check of `robots.txt` for URLs of any origin. A missing file allows everything.
 *
 * The check throws `PAGE_DISALLOWED`, and `PAGE_REQUEST_FAILED` while the file is unavailable, because it may forbid everything.
 *
 * @see [RFC 9309 – Robots Exclusion Protocol](https://www.rfc-editor.org/rfc/rfc9309.html)
 */
export function createRobotsCheck(client: PageClient, userAgent: string): PageCheck {
  const rules = new Map<string, Promise<readonly Rule[]>>();
  return async (url, hasHeaders) => {
    // The file of an origin that only a redirect leads to must not receive the headers either.
    const key = `${url.origin} ${hasHeaders}`;
    let found = rules.get(key);
    if (!found) {
      found = loadRules(client, url.origin, { userAgent, isForeign: !hasHeaders });
      rules.set(key, found);
    }
    if (isAllowed(await found, `${url.pathname}${url.search}`)) return;
    throw new QuiverError(
      'PAGE_DISALLOWED',
      `${url.origin}/robots.txt does not allow '${userAgent}' to load ${url.pathname}. Pass robots: false for your own pages.`,
      { details: { url: url.href } },
    );
  };
}

async function loadRules(
  client: PageClient,
  origin: string,
  { userAgent, isForeign }: { userAgent: string; isForeign: boolean },
): Promise<readonly Rule[]> {
  const { status, bytes } = await client.get(`${origin}/robots.txt`, { isForeign });
  if (status >= 500 || status === 429)
    throw requestFailed(`${origin}/robots.txt`, `status ${status}`, undefined, status);
  return status === 200 ? parseRobots(new TextDecoder().decode(bytes.subarray(0, maxLength)), userAgent) : [];
}

/** Returns the rules of the groups for a product name, otherwise those for all. */
export function parseRobots(text: string, userAgent: string): Rule[] {
  const product = (/^[\w-]+/.exec(userAgent)?.[0] ?? userAgent).toLowerCase();
  const own: Rule[] = [];
  const others: Rule[] = [];
  let isNamed = false;
  let targets: Rule[][] = [];
  let inRules = true;
  for (const line of text.split(/\r\n?|\n/)) {
    const [, field = '', value = ''] = /^\s*([\w-]+)\s*:([^#]*)/.exec(line) ?? [];
    const name = field.toLowerCase();
    const path = value.trim();
    if (name === 'user-agent') {
      if (inRules) targets = [];
      inRules = false;
      const agent = path.toLowerCase();
      if (agent === '*') targets.push(others);
      else if (agent === product) {
        isNamed = true;
        targets.push(own);
      }
    } else if (name === 'allow' || name === 'disallow') {
      inRules = true;
      if (path === '' || own.length + others.length >= maxRules) continue;
      const isWhole = path.endsWith('$');
      const parts = normalize(isWhole ? path.slice(0, -1) : path).split('*');
      for (const target of targets) target.push({ isAllowed: name === 'allow', parts, isWhole, length: path.length });
    }
  }
  return isNamed ? own : others;
}

/** The longest rule that matches decides; of two with the same length, the one that allows. */
export function isAllowed(rules: readonly Rule[], path: string): boolean {
  const normal = normalize(path);
  let best: Rule | undefined;
  for (const rule of rules) {
    const isBetter = !best || rule.length > best.length || (rule.length === best.length && rule.isAllowed);
    if (isBetter && matches(rule, normal)) best = rule;
  }
  return best?.isAllowed ?? true;
}

function matches({ parts, isWhole }: Rule, path: string): boolean {
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1;
    // The last part after a `*` may be anywhere behind the others, so that `$` compares with the end.
    if (isLast && isWhole) return index === 0 ? path === part : path.length - part.length >= at && path.endsWith(part);
    const found = index === 0 ? (path.startsWith(part) ? 0 : -1) : path.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return true;
}

/** Equal paths have equal texts: `%7E` and `~`, `%c3` and `%C3`. */
function normalize(path: string): string {
  return path
    .replace(/%[0-9a-f]{2}/gi, (code) => {
      const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
      return /[\w.~-]/.test(character) ? character : code.toUpperCase();
    })
    .replace(/[^\p{ASCII}]+/gu, (text) => encodeURIComponent(text));
}
