import { englishStopWords } from '../words/stop-word-lists.js';
import type { Edge } from './adjacency.js';
import type { EdgeKind } from './graph-options.js';
import { groupBySource, type GraphPassage, type Triple } from './passage.js';

/** Edges between passages that share names, and the passages that queries can name. */
export interface SharedNames {
  readonly edges: Edge[];
  /** Nodes whose titles are rare names, in ascending order. */
  readonly titled: readonly number[];
}

/**
 * Connects passages that share rare names, found without a model: words with a capital letter, and the titles of documents. A
 * title stands for the first passage of its document. One that several documents bear, such as “Introduction”, names none of them.
 */
export function sharedNames(passages: readonly GraphPassage[], maxPassages: number): SharedNames {
  const firsts = new Set([...groupBySource(passages).values()].map(([first]) => first));
  const isFirst = ({ source }: GraphPassage, node: number): boolean => source === undefined || firsts.has(node);
  const bearers = new Map<string, number>();
  for (const { title = '' } of passages.filter(isFirst)) bearers.set(title, (bearers.get(title) ?? 0) + 1);
  const ordinary = new Set(passages.flatMap(({ document }) => document.match(lowerCase) ?? []));
  const named: number[] = [];
  const terms = passages.map((passage, node) => {
    const { document, title } = passage;
    const hasName = title !== undefined && isFirst(passage, node) && bearers.get(title) === 1;
    if (!hasName) return namesIn(document, undefined, ordinary);
    named.push(node);
    return namesIn(`${title} ${document}`, title, ordinary);
  });
  const titles = new Set(named.map((node) => titleName(passages[node]?.title ?? '')));
  titles.delete('');
  for (const own of terms) {
    // “King Min Dikkha” names the passage “Min Dikkha”; a name that is a title itself names no shorter one.
    for (const name of own)
      if (!titles.has(name)) for (const part of partsOf(name)) if (titles.has(part)) own.add(part);
  }
  const nodesOf = groupByTerm(terms);
  const isRare = (node: number): boolean => {
    const nodes = nodesOf.get(titleName(passages[node]?.title ?? ''));
    return nodes !== undefined && nodes.length <= maxPassages;
  };
  return {
    edges: sharedTermEdges({ kind: 'phrase', verb: 'name', terms, nodesOf, maxPassages }),
    titled: named.filter(isRare),
  };
}

/** Longer runs of words with a capital letter are headings. */
const longestRun = 16;

/** Returns the runs of at least two words within a name, without a genitive. */
function partsOf(name: string): string[] {
  const words = name.split(' ');
  if (words.length > longestRun) return [];
  const parts: string[] = [];
  for (let from = 0; from < words.length; from += 1) {
    for (let to = from + 2; to <= words.length; to += 1)
      parts.push(
        withoutEnd(
          words
            .slice(from, to)
            .join(' ')
            .replace(/['’]s$/, ''),
        ),
      );
  }
  return parts;
}

/** Words in lower case. */
const lowerCase = /(?<![\p{L}\p{M}\p{N}_'’.-])\p{Ll}[\p{L}\p{M}\p{N}_]*/gu;
/** A run of words with a capital letter, after the mark of a Markdown heading, list item or table cell that it begins. */
const capitalized =
  /((?:^|\n)[ \t]*(?:#{1,6}|[-*+>]|\d+[.)])[ \t]+(?:\*\*)?|\|[ \t]*)?(\p{Lu}[\p{L}\p{M}\p{N}_'’.-]*(?:\s+(?:(?:of|the|and|de|von|van|la|du)\s+)?\p{Lu}[\p{L}\p{M}\p{N}_'’.-]*)*)/gu;

/**
 * The names in a text, each once, in lower case: runs of words with a capital letter, without the words that only begin a sentence,
 * and the title without parentheses at its end. Languages without capital letters have no names in this sense.
 *
 * @param ordinary - words that are written in lower case elsewhere: where one begins a heading, a list item or a table cell, it is not a
 *   name
 */
export function namesIn(text: string, title?: string, ordinary?: ReadonlySet<string>): Set<string> {
  const names = new Set<string>();
  const add = (name: string): void => {
    const bare = toName(name);
    if (bare !== '') names.add(bare);
  };
  if (title !== undefined) add(titleName(title));
  for (const [, mark, run = ''] of text.matchAll(capitalized)) {
    const [name = '', ...further] = splitSentences(run);
    if (mark === undefined || !ordinary?.has(withoutEnd(name.toLowerCase()))) add(name);
    further.forEach(add);
  }
  return names;
}

/** Splits a run of words at the ends of sentences. “Albert S. Rogell”, “St. Louis” and “Mrs. Dalloway” are names. */
function splitSentences(run: string): string[] {
  const names: string[] = [];
  let start = 0;
  for (const { 0: end, 1: before = '', 2: after = '', index } of run.matchAll(sentenceEnd)) {
    if (before.length < longestAbbreviation && !englishStopWords.has(after.toLowerCase())) continue;
    names.push(run.slice(start, index + end.length).trimEnd());
    start = index + end.length;
  }
  return [...names, run.slice(start)];
}

const sentenceEnd = /([\p{L}\p{M}\p{N}'’-]*)\.\s+(?=([\p{L}\p{M}]+))/gu;
/** Letters before the point of an abbreviation, plus one. */
const longestAbbreviation = 4;

/** Returns the name that a title is for other texts: without parentheses at its end; `''` where it is none. */
export function titleName(title: string): string {
  return toName(withoutParenthesis(title));
}

function toName(text: string): string {
  const words = withoutEnd(text.toLowerCase()).split(/\s+/);
  const start = words.findIndex((word) => !englishStopWords.has(word));
  // Of “The Who” nothing would be left.
  const name = words.slice(Math.max(start, 0)).join(' ').trim();
  return name.length > 2 && !englishStopWords.has(name) ? name : '';
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
export function tripleEdges(passages: readonly GraphPassage[]): Edge[] {
  const terms = passages.map(({ triples = [] }) => thingsIn(triples));
  const nodesOf = groupByTerm(terms);
  return sharedTermEdges({ kind: 'triple', verb: 'speak of', terms, nodesOf, maxPassages: maxPassagesOfThing });
}

function thingsIn(triples: readonly Triple[]): Set<string> {
  const things = triples.flatMap(({ subject, object }) => [normalize(subject), normalize(object)]);
  return new Set(things.filter((thing) => thing !== ''));
}

function normalize(thing: string): string {
  return thing.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ').trim();
}

interface SharedTerms {
  readonly kind: EdgeKind;
  /** Verb of the reasons: "both … …". */
  readonly verb: string;
  /** Terms of each node, and nodes of each term. */
  readonly terms: readonly ReadonlySet<string>[];
  readonly nodesOf: ReadonlyMap<string, readonly number[]>;
  /** Terms of more nodes than this connect nothing: they are common, and the number of pairs grows with the square. */
  readonly maxPassages: number;
}

function groupByTerm(terms: readonly ReadonlySet<string>[]): Map<string, number[]> {
  const nodesOf = new Map<string, number[]>();
  for (const [node, own] of terms.entries()) {
    for (const term of own) {
      const nodes = nodesOf.get(term);
      if (nodes) nodes.push(node);
      else nodesOf.set(term, [node]);
    }
  }
  return nodesOf;
}

/** Reasons name no more terms than this: the rarest ones, in alphabetical order where equally rare. */
const termsInReason = 3;

/**
 * Connects nodes that share terms. A term of `df` among `N` nodes adds `ln((N + 1) / df) / ln(N + 1) / df` to each of its
 * pairs, a number below one half: the rarer the term, the more it says, and the fewer share it.
 */
function sharedTermEdges({ kind, verb, terms, nodesOf, maxPassages }: SharedTerms): Edge[] {
  const rare = [...nodesOf].filter(([, { length }]) => length >= 2 && length <= maxPassages);
  rare.sort(([a, { length: ofA }], [b, { length: ofB }]) => ofA - ofB || (a < b ? -1 : 1));
  /** Pairs of nodes by one number, with the terms that they share, rarest first. */
  const pairs = new Map<number, { weight: number; shared: string[] }>();
  for (const [term, nodes] of rare) {
    const weight = Math.log((terms.length + 1) / nodes.length) / Math.log(terms.length + 1) / nodes.length;
    for (const [place, from] of nodes.entries()) {
      for (const to of nodes.slice(place + 1)) {
        const key = from * terms.length + to;
        const pair = pairs.get(key) ?? { weight: 0, shared: [] };
        pair.weight += weight;
        if (pair.shared.length < termsInReason) pair.shared.push(`“${term}”`);
        pairs.set(key, pair);
      }
    }
  }
  return [...pairs]
    .sort(([a], [b]) => a - b)
    .map(([key, { weight, shared }]) => {
      const from = Math.floor(key / terms.length);
      return { from, to: key % terms.length, weight, kind, reason: `both ${verb} ${shared.join(', ')}` };
    });
}
