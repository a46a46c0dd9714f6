import type { EdgeList } from '../edge-list.js';
import { groupBySource, type GraphPassage } from '../graph-passage.js';
import { linksIn } from './links-in.js';

/**
 * Connects a passage with the document that it links to. Links are resolved against the passage's `source` and compared with the
 * other sources, without query and fragment; the first passage of a document stands for all of it.
 */
export function addLinkEdges(edges: EdgeList, passages: readonly GraphPassage[]): void {
  const sources = new Map<string, number>();
  for (const [source, [first]] of groupBySource(passages)) sources.set(withoutSuffix(toUrl(source)), first as number);
  for (const [from, { document, source }] of passages.entries()) {
    if (source === undefined) continue;
    const seen = new Set<number>();
    for (const link of linksIn(document)) {
      const target = resolve(link, source);
      const to = target === undefined ? undefined : sources.get(withoutSuffix(target));
      if (to === undefined || passages[to]?.source === source || seen.has(to)) continue;
      seen.add(to);
      edges.add(from, to, 1, 'link', `${source} links to ${passages[to]?.source}`);
    }
  }
}

/** Gives paths the form of URLs, so that one rule resolves both. */
const pathBase = 'file:///';

function toUrl(source: string): URL {
  return new URL(encodeURI(source), pathBase);
}

function resolve(link: string, source: string): URL | undefined {
  try {
    return new URL(link, toUrl(source));
  } catch {
    return undefined;
  }
}

function withoutSuffix({ origin, host, protocol, pathname }: URL): string {
  return `${origin === 'null' ? `${protocol}//${host}` : origin}${pathname}`;
}
