import { titleName } from './term-edges.js';

/** A passage whose title a query names. */
export interface TitledPassage {
  readonly id: string;
  /** The title as the query writes it. */
  readonly name: string;
}

/** Passages by their titles, see {@link indexTitles}. */
export interface TitleIndex {
  /** By the words of a title, joined by spaces. */
  readonly passages: ReadonlyMap<string, readonly string[]>;
  /** By the first word of titles: the number of words of the longest one. */
  readonly longest: ReadonlyMap<string, number>;
}

/** If a query names more titles, the shortest are left out. */
const maxTitles = 6;
/** Longer titles are sentences, which queries do not repeat. */
const maxWords = 16;

/** Creates an index of titles. Passages keep the order in which they come. */
export function indexTitles(titles: Iterable<readonly [id: string, title: string]>): TitleIndex {
  const passages = new Map<string, string[]>();
  const longest = new Map<string, number>();
  for (const [id, title] of titles) {
    const words = wordsOf(titleName(title));
    const [first] = words;
    if (first === undefined || words.length > maxWords) continue;
    const key = words.map(({ folded }) => folded).join(' ');
    const known = passages.get(key);
    if (known) known.push(id);
    else passages.set(key, [id]);
    longest.set(first.folded, Math.max(longest.get(first.folded) ?? 0, words.length));
  }
  return { passages, longest };
}

/**
 * Returns the passages whose titles a query names: at most 6, those of the longest names first. A name begins with a capital letter
 * or a digit and has a capital letter that does not merely begin a sentence; of names that overlap, the longest counts. A query
 * without lower-case letters names nothing, because its capital letters mean nothing.
 *
 * @param allowed - whether a passage may be returned. Default all
 */
export function titlesInQuery(
  query: string,
  { passages, longest }: TitleIndex,
  allowed: (id: string) => boolean = () => true,
): TitledPassage[] {
  if (!/\p{Ll}/u.test(query)) return [];
  const words = wordsOf(query);
  const names: { from: number; to: number; name: string; ids: readonly string[] }[] = [];
  for (const [from, { text, folded, start }] of words.entries()) {
    if (!/^[\p{Lu}\p{N}]/u.test(text)) continue;
    for (let to = Math.min(words.length, from + (longest.get(folded) ?? 0)); to > from; to -= 1) {
      const run = words.slice(from, to);
      const ids = passages.get(run.map((word) => word.folded).join(' '));
      if (!ids || !run.some(({ isCapital }) => isCapital)) continue;
      names.push({ from, to, name: query.slice(start, run.at(-1)?.end), ids });
      break;
    }
  }
  names.sort((a, b) => b.name.length - a.name.length || a.from - b.from);
  const isTaken = new Uint8Array(words.length);
  const found = new Map<string, TitledPassage>();
  for (const { from, to, name, ids } of names) {
    if (isTaken.subarray(from, to).includes(1)) continue;
    isTaken.fill(1, from, to);
    for (const id of ids) if (!found.has(id) && allowed(id)) found.set(id, { id, name });
  }
  return [...found.values()].slice(0, maxTitles);
}

interface Word {
  readonly text: string;
  readonly folded: string;
  readonly start: number;
  readonly end: number;
  /** Whether it has a capital letter that does not merely begin a sentence. */
  readonly isCapital: boolean;
}

function wordsOf(text: string): Word[] {
  let before = 0;
  return Array.from(text.matchAll(/[\p{L}\p{M}\p{N}]+/gu), ({ 0: word, index: start }) => {
    const beginsSentence = start === 0 || before === 0 || /[.?!:]/.test(text.slice(before, start));
    before = start + word.length;
    const isCapital = /\p{Lu}/u.test(beginsSentence ? word.slice(1) : word);
    return { text: word, folded: word.normalize('NFKC').toLowerCase(), start, end: before, isCapital };
  });
}
