import { QuiverError } from '@quiver/core';
import { checkOptions, oneOf, wholeNumber, type OptionChecks } from '@quiver/core/options';
import { recordText } from '../store/check-arguments.js';
import type { VectorMetadata } from '../store/vector-store.js';
import { endOfWhiteSpace } from '../document/chunking/text-boundary.js';
import { citationAt, endOfListMarker, findQuotes, type Quote, type UnreadableQuote } from './find-quotes.js';
import { foldQuote, foldText, type FoldedText } from './fold-text.js';
import { PatternAutomaton } from './pattern-automaton.js';

/** A text that an answer may quote: a passage of a query tool, a record of a store, or a chunk. */
export interface QuoteSource {
  id: string;
  /** Text; `text` and then the metadata are read where it is absent. */
  document?: string;
  text?: string;
  /** With `startIndex` and `endIndex`, places are also those in the whole document. */
  metadata?: VectorMetadata;
}

/** Place of a quote in a source. */
export interface QuotePlace {
  /** Id of the source. */
  id: string;
  /** Place in the text of the source, in UTF-16 code units. */
  start: number;
  end: number;
  /** `metadata.source` of the source. */
  source?: unknown;
  /** Place in the whole document; present if the text of the source is a verbatim part of it. */
  startIndex?: number;
  endIndex?: number;
  /** Text of the source for each ellipsis of the quote, in order; absent without an ellipsis. */
  omitted?: string[];
}

/** A quote with the numbers of the sources that the answer names behind it, such as `[2]`: 1 is the first source. */
export interface CitingQuote extends Quote {
  cited?: number[];
}

/** A quote that is in a source; in one that it cites, if it cites any. */
export interface FoundQuote extends CitingQuote {
  /** In the order of the sources, at least one; of a quote that cites sources, the first place in each of them. */
  places: QuotePlace[];
}

/** A quote that is in no source, or in none that it cites. */
export interface MissingQuote extends CitingQuote {
  /** Places in sources that the quote does not cite; absent without any. */
  places?: QuotePlace[];
}

/** A number of a source in the answer, such as `[2]`. */
export interface Citation {
  number: number;
  /** Place in the answer. */
  start: number;
  end: number;
  /** Id of the source; absent if there is no source with the number. */
  id?: string;
}

/** Result of `verifyQuotes()`. */
export interface QuoteReport {
  found: FoundQuote[];
  /** Quotes that are in no source, or in none that they cite. */
  missing: MissingQuote[];
  /** Quotation marks without a counterpart. They can quote anything, so an answer that has some is not verified. */
  unreadable: UnreadableQuote[];
  /** Numbers of sources in the answer: `[2]`, `[1, 3]`, `[2–4]`. The passages that a query tool writes for a model have them. */
  citations: Citation[];
}

/** Options of `verifyQuotes()`. */
export interface VerifyQuotesOptions {
  /** Characters of the shortest quote to verify, so that single words in quotation marks are ignored. Default 15. */
  minLength?: number;
  /**
   * Meaning of `…`, `...` and `[…]` inside a quote. `reject`: an ellipsis of the source. `allow`: also any text of the source, up to `maxGap`
   * characters, which can change the meaning: “It … works” is found in “It never works”. Default `reject`.
   */
  ellipsis?: 'reject' | 'allow';
  /** Characters of a source that an ellipsis can stand for, with `ellipsis: 'allow'`. Default 500. */
  maxGap?: number;
  /** Number of places to report for a quote. Default 10. */
  maxPlaces?: number;
}

const code = 'CITATION_INVALID';
const checks: OptionChecks<VerifyQuotesOptions> = {
  minLength: wholeNumber(1),
  ellipsis: oneOf('reject', 'allow'),
  maxGap: wholeNumber(0),
  maxPlaces: wholeNumber(1),
};

/**
 * Finds the quotes of an answer in its sources, by their characters: “…”, "…", «…», »…«, „…“, and paragraphs of Markdown block quotes.
 * The quotes of an answer are verified if none is missing, and none is unreadable. A quote with numbers of sources behind it, such as “…” [2],
 * must be in one of them.
 *
 * Any white space equals any other, and so do the forms of quotation marks and of hyphens, and a letter with its marks in one character
 * or in several. Soft hyphens and characters without width are ignored, and so is a comma or
 * period before the closing mark, which may belong to the sentence of the answer. A quote may continue over paragraphs and list items, whose
 * markers do not count. Everything else counts, including upper and lower case.
 *
 * Time grows linearly with answer and sources.
 *
 * @throws `CITATION_INVALID` for arguments of wrong types, and for an unknown option or an invalid value; `CITATION_TOO_COSTLY` for quotes with ellipses or blank lines whose parts occur more than a
 *   million times in the sources
 * @example
 * const { found, missing, unreadable } = verifyQuotes(answer, sources);
 * const isVerified = found.length > 0 && missing.length === 0 && unreadable.length === 0;
 */
export function verifyQuotes(
  answer: string,
  sources: readonly QuoteSource[],
  options: VerifyQuotesOptions = {},
): QuoteReport {
  checkOptions('verifyQuotes', options, checks, { code });
  const { minLength = 15, ellipsis = 'reject', maxGap = 500, maxPlaces = 10 } = options;
  const texts = checkSources(answer, sources);
  const read = findQuotes(answer);
  const quotes = read.quotes
    .filter(({ text }) => text.length >= minLength)
    .map((quote) => ({ quote, content: toContent(quote.text) }))
    .filter(({ content: { parts } }) => parts.reduce((sum, { length }) => sum + length, 0) >= minLength);
  const citedBy = new Map(quotes.map(({ quote }) => [quote, citedAfter(answer, quote)]));
  const states = new Map(
    quotes.map(({ content }): [string, QuoteState] => [
      content.key,
      { content, places: [], first: new Map(), isCiting: false, source: -1 },
    ]),
  );
  for (const { quote, content } of quotes) if (citedBy.get(quote)) states.get(content.key)!.isCiting = true;
  const patterns = new Patterns([...states.values()]);
  let steps = 0;
  for (const [source, text] of states.size === 0 ? [] : texts.entries()) {
    const folded = foldText(text);
    patterns.automaton.search(folded.units, (pattern, end) => {
      for (const { state, part } of patterns.users[pattern]!) {
        const { content, places, first, isCiting } = state;
        if (places.length >= maxPlaces && (!isCiting || first.has(source))) continue;
        if (content.parts.length > 1 && ++steps > maxSteps) throw tooCostly();
        if (!state.search || state.source !== source) {
          const isGap = createGapTest(text, folded, ellipsis === 'allow' ? maxGap : 0);
          state.search = createSearch(content, isGap);
          state.source = source;
        }
        const match = state.search(part, end);
        if (!match) continue;
        const isPunctuated = content.punctuation !== undefined && folded.units[end] === content.punctuation;
        const place = toPlace(sources[source] as QuoteSource, text, folded, match.start, isPunctuated ? end + 1 : end);
        const omitted = ellipsis === 'allow' ? omittedBy(match, content, text, folded) : [];
        const found = omitted.length > 0 ? { ...place, omitted } : place;
        if (!first.has(source)) first.set(source, found);
        if (places.length < maxPlaces) places.push(found);
        if (places.length === maxPlaces && !isCiting) patterns.release(content);
      }
    });
  }
  const report: QuoteReport = { found: [], missing: [], unreadable: [...read.unreadable], citations: [] };
  for (const { quote, content } of quotes) {
    const { places, first } = states.get(content.key)!;
    const cited = citedBy.get(quote);
    const citing = cited ? { ...quote, cited } : quote;
    const own = cited ? cited.flatMap((number) => first.get(number - 1) ?? []) : places;
    if (own.length > 0) report.found.push({ ...citing, places: own });
    else report.missing.push(places.length > 0 ? { ...citing, places } : citing);
  }
  report.citations = read.citations.flatMap(({ numbers, start, end }) =>
    numbers.map((number) => {
      const source = sources[number - 1];
      return { number, start, end, ...(source && { id: source.id }) };
    }),
  );
  return report;
}

/** The end of a quote, up to the citation behind it. */
const betweenQuoteAndCitation = /\s{0,3}["“”«»]?[*_]{0,3}[.,;:!?)]{0,2}\s{0,3}(?:[—–-]\s?)?/y;

/** Returns the numbers of the citations behind a quote, ascending. */
function citedAfter(answer: string, { end }: Quote): number[] | undefined {
  const numbers = new Set<number>();
  betweenQuoteAndCitation.lastIndex = end;
  betweenQuoteAndCitation.test(answer);
  let at = betweenQuoteAndCitation.lastIndex;
  for (let mark = citationAt(answer, at); mark; mark = citationAt(answer, at)) {
    for (const number of mark.numbers) numbers.add(number);
    at = endOfWhiteSpace(answer, mark.end, Math.min(answer.length, mark.end + 1));
  }
  return numbers.size === 0 ? undefined : [...numbers].toSorted((a, b) => a - b);
}

/** A quote during the search. */
interface QuoteState {
  readonly content: QuoteContent;
  readonly places: QuotePlace[];
  /** First place in each source, by the index of the source. Complete only for a quote that cites sources. */
  readonly first: Map<number, QuotePlace>;
  isCiting: boolean;
  /** Index of the source that `search` belongs to. */
  source: number;
  search?: QuoteSearch;
}

/** About a third of a second of CPU time. */
const maxSteps = 1_000_000;

function tooCostly(): QuiverError {
  return new QuiverError(
    'CITATION_TOO_COSTLY',
    `Parts of quotes with ellipses or blank lines occur more than ${maxSteps} times in the sources. Verify the answer against fewer sources.`,
  );
}

/** Returns the texts of the sources. */
function checkSources(answer: unknown, sources: unknown): string[] {
  if (typeof answer !== 'string') throw invalid(`The answer must be a text, not ${typeof answer}.`);
  if (!Array.isArray(sources)) throw invalid('sources must be a list of { id, document, metadata }.');
  return sources.map((source: QuoteSource | null | undefined, index) => {
    if (typeof source !== 'object' || source === null || typeof source.id !== 'string')
      throw invalid(`Source ${index} must be { id, document, metadata }, with an id that is a text.`);
    const { document, text, metadata } = source;
    const given: unknown = document ?? text ?? recordText({ metadata: metadata ?? {} });
    if (typeof given !== 'string') throw invalid(`The document of source '${source.id}' must be a text.`);
    return given;
  });
}

function invalid(message: string): QuiverError {
  return new QuiverError(code, message);
}

/** Content of a quote in the form of the search. Quotes with equal content have equal places. */
interface QuoteContent {
  readonly key: string;
  /** Folded parts between gaps, without a last comma or period. */
  readonly parts: readonly Uint16Array[];
  /** Gaps before the parts; the one before the first part has no meaning. */
  readonly gaps: readonly Gap[];
  /** The last comma or period. */
  readonly punctuation: number | undefined;
}

/** Text that a quote leaves out: that of an ellipsis, or the marker of a list item where a line ends. */
type Gap = 'ellipsis' | 'break';

function toContent(text: string): QuoteContent {
  const parts: Uint16Array[] = [];
  const gaps: Gap[] = [];
  let gap: Gap = 'break';
  let from = endOfListMarker(text, 0);
  /** @param next - the gap after the part */
  const add = (to: number, next: Gap): void => {
    const units = foldQuote(text.slice(from, to));
    if (units.length > 0) {
      parts.push(units);
      gaps.push(gap);
      gap = next;
    } else if (next === 'ellipsis') gap = next;
  };
  for (let at = from; at < text.length; at += 1) {
    const ellipsis = ellipsisEnd(text, at);
    if (ellipsis > at) {
      const isBracketed =
        (text[at - 1] === '[' && text[ellipsis] === ']') || (text[at - 1] === '(' && text[ellipsis] === ')');
      add(isBracketed ? at - 1 : at, 'ellipsis');
      from = isBracketed ? ellipsis + 1 : ellipsis;
      at = from - 1;
    } else if (text[at] === '\n') {
      const line = endOfWhiteSpace(text, at, text.length);
      const item = endOfListMarker(text, line);
      if (item > line || text.slice(at + 1, line).includes('\n')) {
        add(at, 'break');
        from = item;
      }
      at = Math.max(line, item) - 1;
    }
  }
  add(text.length, 'break');
  const last = parts.at(-1);
  const punctuation =
    last && last.length > 1 && (last.at(-1) === comma || last.at(-1) === period) ? last.at(-1) : undefined;
  if (last && punctuation !== undefined) parts[parts.length - 1] = last.subarray(0, -1);
  return { key: `${parts.map(toKey).join('\0')}\0${gaps.join()}\0${punctuation ?? ''}`, parts, gaps, punctuation };
}

/** A text decoder would make one character of all lone surrogates. */
function toKey(units: Uint16Array): string {
  return Array.from(units, (unit) => String.fromCharCode(unit)).join('');
}

const comma = 0x2c;
const period = 0x2e;

/** Returns the end of an ellipsis, `…` or at least three dots, which may have spaces between them; `at` where none begins. */
function ellipsisEnd(text: string, at: number): number {
  if (text[at] === '…') return at + 1;
  let end = at;
  let dots = 0;
  for (let next = at; text[next] === '.'; next = text[end] === ' ' ? end + 1 : end) {
    dots += 1;
    end = next + 1;
  }
  return dots < 3 ? at : end;
}

/** The distinct parts of quotes. */
class Patterns {
  readonly automaton: PatternAutomaton;
  /** Quotes with a pattern, and which part of them it is. */
  readonly users: { state: QuoteState; part: number }[][] = [];
  readonly #numbers = new Map<string, number>();
  /** Number of uses by quotes that need further places. */
  readonly #wanted: number[] = [];

  constructor(states: readonly QuoteState[]) {
    const patterns: Uint16Array[] = [];
    for (const state of states) {
      for (const [part, units] of state.content.parts.entries()) {
        const key = toKey(units);
        const pattern = this.#numbers.get(key) ?? patterns.length;
        if (pattern === patterns.length) {
          this.#numbers.set(key, pattern);
          patterns.push(units);
          this.users.push([]);
          this.#wanted.push(0);
        }
        this.users[pattern]!.push({ state, part });
        this.#wanted[pattern]! += 1;
      }
    }
    this.automaton = new PatternAutomaton(patterns);
  }

  /** The quote needs no further places. */
  release({ parts }: QuoteContent): void {
    for (const units of parts) {
      const pattern = this.#numbers.get(toKey(units))!;
      this.#wanted[pattern]! -= 1;
      if (this.#wanted[pattern] === 0) this.automaton.forget(pattern);
    }
  }
}

/** Receives the places where parts of a quote end, in order, and returns the last part when the quote is complete. */
type QuoteSearch = (part: number, end: number) => PartMatch | undefined;

/** Place of a part of a quote, in the folded source. */
interface PartMatch {
  /** Start of the quote. */
  readonly start: number;
  /** Start of the part. */
  readonly from: number;
  readonly end: number;
  /** The part before it. */
  readonly before: PartMatch | undefined;
}

/** Places of one part, after those before it. */
interface PartPlaces {
  readonly matches: PartMatch[];
  /** Last one that ends before the next part that was seen. */
  at: number;
}

/** Whether a quote can leave out the folded text between two of its parts. */
type GapTest = (gap: Gap, from: number, to: number) => boolean;

/**
 * Searches for a quote in one source. The parts must follow each other without overlap, and the nearest ones count. Places of the quote do
 * not overlap.
 */
function createSearch({ parts, gaps }: QuoteContent, isGap: GapTest): QuoteSearch {
  const places = parts.map((): PartPlaces => ({ matches: [], at: -1 }));
  let last = 0;
  return (part, end) => {
    const from = end - parts[part]!.length;
    const earlier = places[part - 1];
    let before: PartMatch | undefined;
    if (earlier) {
      const { matches } = earlier;
      while (earlier.at + 1 < matches.length && matches[earlier.at + 1]!.end <= from) earlier.at += 1;
      before = matches[earlier.at];
      if (!before || !isGap(gaps[part]!, before.end, from)) return undefined;
    }
    const start = before?.start ?? from;
    if (start < last) return undefined;
    const match = { start, from, end, before };
    if (part < parts.length - 1) {
      places[part]!.matches.push(match);
      return undefined;
    }
    last = end;
    return match;
  };
}

/** The end of a line, and what begins the next one: marks of block quotes, and the marker of a list item. */
const lineBreak = /^(?:[ \n](?:[-*+•][ \n])?|\n(?:>[ \n]?)*(?:\d{1,3}[.)][ \n]|[-*+•][ \n])?)$/;
const ellipsisAlone = /^[ \n]?[[(]?(?:…|\.(?: ?\.){2,})[\])]?[ \n]?$/;
/** Characters of the longest line break or ellipsis that is read. */
const longestFixedGap = 100;

/** @param maxGap - characters that an ellipsis can stand for; 0 for none but an ellipsis of the source */
function createGapTest(text: string, { starts, ends }: FoldedText, maxGap: number): GapTest {
  return (gap, from, to) => {
    if (gap === 'ellipsis' && to - from <= maxGap) return true;
    const [start, end] = [ends[from - 1]!, starts[to]!];
    if (end - start > longestFixedGap) return false;
    const between = text.slice(start, end).replaceAll(/\s+/g, (space) => (space.includes('\n') ? '\n' : ' '));
    return (gap === 'ellipsis' ? ellipsisAlone : lineBreak).test(between);
  };
}

/** Returns the text of the source for each ellipsis of a quote. */
function omittedBy({ from, before }: PartMatch, { gaps }: QuoteContent, text: string, folded: FoldedText): string[] {
  const omitted: string[] = [];
  for (let [next, match, part] = [from, before, gaps.length - 1]; match; part -= 1) {
    if (gaps[part] === 'ellipsis') omitted.push(text.slice(folded.ends[match.end - 1], folded.starts[next]).trim());
    [next, match] = [match.from, match.before];
  }
  return omitted.reverse();
}

function toPlace(source: QuoteSource, text: string, folded: FoldedText, from: number, to: number): QuotePlace {
  const start = folded.starts[from]!;
  const end = folded.ends[to - 1]!;
  const { startIndex, endIndex, source: name } = source.metadata ?? {};
  const isVerbatim = Number.isSafeInteger(startIndex) && endIndex - startIndex === text.length;
  return {
    id: source.id,
    start,
    end,
    ...(name !== undefined && { source: name as unknown }),
    ...(isVerbatim && { startIndex: startIndex + start, endIndex: startIndex + end }),
  };
}
