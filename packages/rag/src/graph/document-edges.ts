import type { Edge } from './adjacency.js';
import { groupBySource, type GraphPassage } from './passage.js';

/** Connects each passage with the one that follows it in its source. Passages without `position` are left out. */
export function sequenceEdges(passages: readonly GraphPassage[]): Edge[] {
  return [...groupBySource(passages)].flatMap(([source, nodes]) => {
    const ordered = nodes.filter((node) => passages[node]?.position !== undefined);
    const reason = `next to each other in ${source}`;
    return ordered.slice(1).map((to, place): Edge => {
      return { from: ordered[place] as number, to, weight: 1, kind: 'sequence', reason };
    });
  });
}

/**
 * Connects a passage with the document that it links to. Links are resolved against the passage's `source` and compared with the
 * other sources, without query and fragment; the first passage of a document stands for all of it.
 */
export function linkEdges(passages: readonly GraphPassage[]): Edge[] {
  const edges: Edge[] = [];
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
      edges.push({ from, to, weight: 1, kind: 'link', reason: `${source} links to ${passages[to]?.source}` });
    }
  }
  return edges;
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

/** `[text](target "title")` and `[label]: target`; `<a href="target">`. */
const markdownLink = /\]\(\s*<?([^\s<>()]+(?:\([^\s<>()]*\)[^\s<>()]*)*)>?(?:\s+["'(][^)\n]{0,200})?\s*\)/g;
const markdownDefinition = /^ {0,3}\[[^\]\n]+\]:\s*<?([^\s<>]+)>?/gm;
const htmlLink = /<a\s[^<>]*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi;

/** The targets of all Markdown and HTML links in a text, in the order of the three forms. */
function linksIn(text: string): string[] {
  return [markdownLink, markdownDefinition, htmlLink].flatMap((pattern) =>
    Array.from(text.matchAll(pattern), ([, ...groups]) => groups.find((group) => group !== undefined) ?? ''),
  );
}

interface Relation {
  type: string;
  target: string;
}

/**
 * Connects passages as their metadata says: `relations` is a list of `{ type, target }`, or of texts `type:target` where a store
 * keeps no objects. A target is the id of a passage or the source of a document, whose first passage is meant. Targets that are
 * not in the graph are left out: they may come later. Entries of other shapes are ignored, for the key may be in use otherwise.
 */
export function relationEdges(passages: readonly GraphPassage[]): Edge[] {
  const edges: Edge[] = [];
  const numbers = new Map<string, number>();
  for (const [source, [first]] of groupBySource(passages)) numbers.set(source, first as number);
  for (const [node, { id }] of passages.entries()) numbers.set(id, node);
  for (const [from, passage] of passages.entries()) {
    for (const { type, target } of readRelations(passage.metadata?.['relations'])) {
      const to = numbers.get(target);
      if (to === undefined || to === from) continue;
      const reason = `${nameOf(passage)} ${type} ${nameOf(passages[to] as GraphPassage)}`;
      edges.push({ from, to, weight: 1, kind: 'relation', reason });
    }
  }
  return edges;
}

function* readRelations(relations: unknown): Generator<Relation> {
  if (!Array.isArray(relations)) return;
  for (const relation of relations as unknown[]) {
    if (typeof relation === 'string') {
      const colon = relation.indexOf(':');
      if (colon > 0) yield { type: relation.slice(0, colon).trim(), target: relation.slice(colon + 1).trim() };
    } else if (typeof relation === 'object' && relation !== null) {
      const { type, target } = relation as Partial<Record<keyof Relation, unknown>>;
      if (typeof type === 'string' && typeof target === 'string') yield { type, target };
    }
  }
}

function nameOf({ title, id }: GraphPassage): string {
  return title ?? id;
}
