import type { EdgeList } from '../edge-list.js';
import { groupBySource, type GraphPassage } from '../graph-passage.js';
import { linksIn } from './links-in.js';

/**
 * Connects a passage with the document that it links to. Links are resolved against the passage's `source` and compared with the
 * other sources, without query and fragment; the first passage of a document stands for all of it.
 */
export function addLinkEdges(edges: EdgeList, passages: readonly GraphPassage[]): void {
  const sources = new Map<string, number>();
  for (const [source, [first]] of groupBySource(passages)) {
    const url = toUrl(source);
    if (url) sources.set(withoutSuffix(url), first as number);
  }
  for (const [from, { document, source }] of passages.entries()) {
    const base = source === undefined ? undefined : toUrl(source);
    if (!base) continue;
    const seen = new Set<number>();
    for (const link of linksIn(document)) {
      const target = resolve(link, base);
      const to = target === undefined ? undefined : sources.get(withoutSuffix(target));
      if (to === undefined || passages[to]?.source === source || seen.has(to)) continue;
      seen.add(to);
      edges.add(from, to, 1, 'link', `${source} links to ${passages[to]?.source}`);
    }
  }
}

/** Gives paths the form of URLs, so that one rule resolves both. */
const pathBase = 'file:///';

/** `undefined` where it cannot be resolved. */
function toUrl(source: string): URL | undefined {
  const isUrl = /^[a-z][a-z\d+.-]+:\/\//i.test(source);
  // In the name of a file these are letters like others.
  return resolve(isUrl ? source : source.replaceAll(/[%#?]/g, encodeURIComponent), new URL(pathBase));
}

function resolve(link: string, base: URL): URL | undefined {
  try {
    return new URL(link, base);
  } catch {
    return undefined;
  }
}

function withoutSuffix({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname}`;
}
