import { stopWords } from '../retrieval/stop-words.js';
import type { EdgeKind } from './edge-options.js';
import type { EdgeList } from './edge-list.js';
import { groupBySource, type GraphPassage, type Triple } from './passage.js';

/**
 * Connects passages that share rare names, found without a model: words with a capital letter, and the titles of documents. A
 * title stands for the first passage of its document. One that several documents bear, such as “Introduction”, names none of them.
 */
export function addPhraseEdges(edges: EdgeList, passages: readonly GraphPassage[], maxPassages: number): void {
  const firsts = new Set([...groupBySource(passages).values()].map(([first]) => first));
  const isFirst = ({ source }: GraphPassage, node: number): boolean => source === undefined || firsts.has(node);
  const bearers = new Map<string, number>();
  for (const { title = '' } of passages.filter(isFirst)) bearers.set(title, (bearers.get(title) ?? 0) + 1);
  const phrases = passages.map((passage, node) => {
    const { document, title } = passage;
    const hasName = title !== undefined && isFirst(passage, node) && bearers.get(title) === 1;
    return hasName ? namesIn(`${title} ${document}`, title) : namesIn(document);
  });
  addSharedTermEdges({
    edges,
    kind: 'phrase',
    terms: phrases,
    maxPassages,
    reasonOf: (shared) => `both name ${shared.map((phrase) => `“${phrase}”`).join(', ')}`,
  });
}

const capitalized =
  /\p{Lu}[\p{L}\p{M}\p{N}_'’.-]*(?:\s+(?:(?:of|the|and|de|von|van|la|du)\s+)?\p{Lu}[\p{L}\p{M}\p{N}_'’.-]*)*/gu;

/**
 * The names in a text, each once, in lower case: runs of words with a capital letter, without the words that only begin a sentence,
 * and the title without parentheses at its end. Languages without capital letters have no names in this sense.
 */
export function namesIn(text: string, title?: string): Set<string> {
  const names = new Set<string>();
  const add = (name: string): void => {
    const words = withoutEnd(name.toLowerCase()).split(/\s+/);
    const start = words.findIndex((word) => !stopWords.has(word));
    // Of “The Who” nothing would be left.
    const bare = words.slice(Math.max(start, 0)).join(' ').trim();
    if (bare.length > 2 && !stopWords.has(bare)) names.add(bare);
  };
  if (title !== undefined) add(withoutParenthesis(title));
  for (const [name] of text.matchAll(capitalized)) add(name);
  return names;
}

function withoutEnd(name: string): string {
  let end = name.length;
  while (end > 0 && ".,;:'’-".includes(name[end - 1] as string)) end -= 1;
  return name.slice(0, end);
}

function withoutParenthesis(title: string): string {
  const trimmed = title.trim();
  const start = trimmed.lastIndexOf('(');
  const isLast = start > 0 && trimmed.indexOf(')', start) === trimmed.length - 1;
  return isLast ? trimmed.slice(0, start).trim() : trimmed;
}

/** Things that more passages than this speak of connect nothing. */
const maxPassagesOfThing = 30;

/** Connects passages whose triples speak of the same thing, as subject or as object. */
export function addTripleEdges(edges: EdgeList, passages: readonly GraphPassage[]): void {
  addSharedTermEdges({
    edges,
    kind: 'triple',
    terms: passages.map(({ triples = [] }) => thingsIn(triples)),
    maxPassages: maxPassagesOfThing,
    reasonOf: (shared) => `both speak of ${shared.map((thing) => `“${thing}”`).join(', ')}`,
  });
}

function thingsIn(triples: readonly Triple[]): Set<string> {
  const things = triples.flatMap(({ subject, object }) => [normalize(subject), normalize(object)]);
  return new Set(things.filter((thing) => thing !== ''));
}

function normalize(thing: string): string {
  return thing.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ').trim();
}

interface SharedTermEdges {
  readonly edges: EdgeList;
  readonly kind: EdgeKind;
  /** Terms of each node. */
  readonly terms: readonly ReadonlySet<string>[];
  /** Terms of more nodes than this connect nothing: they are common, and the number of pairs grows with the square. */
  readonly maxPassages: number;
  /** @param shared - the rarest terms that two nodes share, at most three, in alphabetical order where equally rare */
  readonly reasonOf: (shared: readonly string[]) => string;
}

/** Reasons name no more terms than this. */
const termsInReason = 3;

/**
 * Connects nodes that share terms. A term of `df` among `N` nodes adds `ln((N + 1) / df) / ln(N + 1) / df` to each of its
 * pairs, a number below one half: the rarer the term, the more it says, and the fewer share it.
 */
function addSharedTermEdges({ edges, kind, terms, maxPassages, reasonOf }: SharedTermEdges): void {
  const nodesOf = new Map<string, number[]>();
  for (const [node, own] of terms.entries()) {
    for (const term of own) {
      const nodes = nodesOf.get(term);
      if (nodes) nodes.push(node);
      else nodesOf.set(term, [node]);
    }
  }
  const rare = [...nodesOf].filter(([, { length }]) => length >= 2 && length <= maxPassages);
  rare.sort(([a, { length: ofA }], [b, { length: ofB }]) => ofA - ofB || (a < b ? -1 : 1));
  /** The terms that a node shares with nodes of larger numbers, rarest first. */
  const sharedBy = new Map<number, Map<number, { weight: number; shared: string[] }>>();
  for (const [term, nodes] of rare) {
    const weight = Math.log((terms.length + 1) / nodes.length) / Math.log(terms.length + 1) / nodes.length;
    for (const [place, from] of nodes.entries()) {
      let pairs = sharedBy.get(from);
      if (!pairs) sharedBy.set(from, (pairs = new Map()));
      for (const to of nodes.slice(place + 1)) {
        const pair = pairs.get(to);
        if (!pair) pairs.set(to, { weight, shared: [term] });
        else {
          pair.weight += weight;
          if (pair.shared.length < termsInReason) pair.shared.push(term);
        }
      }
    }
  }
  for (const [from, pairs] of [...sharedBy].sort(byNumber)) {
    for (const [to, { weight, shared }] of [...pairs].sort(byNumber))
      edges.add(from, to, weight, kind, reasonOf(shared));
  }
}

function byNumber([a]: readonly [number, unknown], [b]: readonly [number, unknown]): number {
  return a - b;
}
