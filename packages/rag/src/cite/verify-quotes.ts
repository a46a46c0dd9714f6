import { QuiverError } from '@quiver/core';
import {
  booleanValue,
  checkOptions,
  oneOf,
  type OptionChecks,
  wholeNumber,
  invalidOptions,
} from '@quiver/core/internal';
import { recordText } from '../store/record-text.js';
import type { VectorMetadata } from '../store/vector-store.js';
import { endOfWhiteSpace } from '../document/chunking/text-boundary.js';
import { citationAt, findQuotes, type Quote, type UnreadableQuote } from './find-quotes.js';
import { foldText, type FoldedText } from './fold-text.js';
import { findMarkdownMarks } from './markdown-marks.js';
import { toContent, type QuoteContent } from './quote-content.js';
import { createGapTest, findPlaces, omittedBy } from './quote-search.js';

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
  /**
   * Whether Markdown marks count. By default, a quote that is not found is compared again with the sources as a reader of the rendered page sees
   * them: without code marks, escapes, links and list markers. Default `false`.
   */
  strict?: boolean;
}

const checks: OptionChecks<VerifyQuotesOptions> = {
  minLength: wholeNumber(1),
  ellipsis: oneOf('reject', 'allow'),
  maxGap: wholeNumber(0),
  maxPlaces: wholeNumber(1),
  strict: booleanValue,
};

/**
 * Finds the quotes of an answer in its sources, by their characters: “…”, "…", «…», »…«, „…“, and paragraphs of Markdown block quotes.
 * The quotes of an answer are verified if none is missing, and none is unreadable. A quote with numbers of sources behind it, such as “…” [2],
 * must be in one of them.
 *
 * Any white space equals any other, and so do the forms of quotation marks and of hyphens, and a letter with its marks in one character
 * or in several. Soft hyphens and characters without width are ignored, and so is a comma or
 * period before the closing mark, which may belong to the sentence of the answer. A quote may continue over paragraphs and list items, whose
 * markers do not count. Markdown marks of the sources do not count either, unless `strict` is set: loaders write them for code, links and
 * lists. Everything else counts, including upper and lower case.
 *
 * Time grows with the number of quotes times the length of the sources.
 *
 * @throws `OPTIONS_INVALID` for arguments of wrong types, and for an unknown option or an invalid value; `CITATION_TOO_COSTLY` when quotes times characters of the sources exceed 100
 *   millions, and for quotes with ellipses or blank lines whose parts occur more than 100,000 times
 * @example
 * const { found, missing, unreadable } = verifyQuotes(answer, sources);
 * const isVerified = found.length > 0 && missing.length === 0 && unreadable.length === 0;
 */
export function verifyQuotes(
  answer: string,
  sources: readonly QuoteSource[],
  options: VerifyQuotesOptions = {},
): QuoteReport {
  checkOptions('verifyQuotes', options, checks);
  const { minLength = 15, ellipsis = 'reject', maxGap = 500, maxPlaces = 10, strict = false } = options;
  const texts = checkSources(answer, sources);
  const read = findQuotes(answer);
  const limits = { maxGap: ellipsis === 'allow' ? maxGap : 0, isGapReported: ellipsis === 'allow', maxPlaces };
  const isLong = ({ content: { parts } }: SearchedQuote): boolean =>
    parts.reduce((sum, { length }) => sum + length, 0) >= minLength;
  const quotes = read.quotes
    .filter(({ text }) => text.length >= minLength)
    .map((quote): SearchedQuote => {
      return { quote, cited: citedAfter(answer, quote), content: toContent(quote.text), places: [], own: [] };
    })
    .filter(isLong);
  searchQuotes(quotes, texts, sources, foldText, limits);
  if (!strict) {
    const rest = quotes.filter(({ own }) => own.length === 0);
    for (const one of rest) one.content = toContent(one.quote.text, findMarkdownMarks(one.quote.text, false));
    const fold = (text: string): FoldedText => foldText(text, findMarkdownMarks(text, true));
    searchQuotes(rest.filter(isLong), texts, sources, fold, limits);
  }
  const report: QuoteReport = { found: [], missing: [], unreadable: [...read.unreadable], citations: [] };
  for (const { quote, cited, places, own } of quotes) {
    const citing = cited ? { ...quote, cited } : quote;
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

interface SearchedQuote {
  readonly quote: Quote;
  readonly cited: number[] | undefined;
  content: QuoteContent;
  /** Places in all sources. */
  places: QuotePlace[];
  /** Those that prove the quote: in the sources that it cites, if it cites any. */
  own: QuotePlace[];
}

function searchQuotes(
  quotes: readonly SearchedQuote[],
  texts: readonly string[],
  sources: readonly QuoteSource[],
  fold: (text: string) => FoldedText,
  { maxGap, isGapReported, maxPlaces }: { maxGap: number; isGapReported: boolean; maxPlaces: number },
): void {
  if (quotes.length === 0) return;
  const found = quotes.map((quote) => ({ quote, places: [] as QuotePlace[], first: new Map<number, QuotePlace>() }));
  let steps = 0;
  const spend = (more: number): void => {
    steps += more;
    if (steps > maxSteps)
      throw new QuiverError(
        'CITATION_TOO_COSTLY',
        'There are too many quotes, or parts of quotes with ellipses or blank lines occur too often in the sources. Verify the answer against fewer sources.',
      );
  };
  for (const [index, text] of texts.entries()) {
    const folded = fold(text);
    const isGap = createGapTest(text, folded, maxGap);
    for (const {
      quote: { content, cited },
      places,
      first,
    } of found) {
      // A quote that cites sources needs a place in each of them.
      const isEnough = (): boolean => places.length >= maxPlaces && (!cited || first.has(index));
      if (isEnough()) continue;
      for (const match of findPlaces(content, folded.units, isGap, spend)) {
        const { start, end } = match;
        const isPunctuated = content.punctuation !== undefined && folded.units[end] === content.punctuation;
        const place = toPlace(sources[index]!, text, folded, start, isPunctuated ? end + 1 : end);
        const omitted = isGapReported ? omittedBy(match, content, text, folded) : [];
        const whole = omitted.length > 0 ? { ...place, omitted } : place;
        if (!first.has(index)) first.set(index, whole);
        if (places.length < maxPlaces) places.push(whole);
        if (isEnough()) break;
      }
    }
  }
  for (const { quote, places, first } of found) {
    quote.own = quote.cited ? quote.cited.flatMap((cited) => first.get(cited - 1) ?? []) : places;
    if (places.length > 0) quote.places = places;
  }
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

/** Characters of the sources that are compared, for all quotes: about a second of CPU time at most. */
const maxSteps = 100_000_000;

function checkSources(answer: unknown, sources: unknown): string[] {
  if (typeof answer !== 'string') throw invalidOptions(`The answer must be a text, not ${typeof answer}.`);
  if (!Array.isArray(sources)) throw invalidOptions('sources must be a list of { id, document, metadata }.');
  return sources.map((source: QuoteSource | null | undefined, index) => {
    if (typeof source !== 'object' || source === null || typeof source.id !== 'string')
      throw invalidOptions(`Source ${index} must be { id, document, metadata }, with an id that is a text.`);
    const { document, text, metadata } = source;
    const given: unknown = document ?? text ?? recordText({ metadata: metadata ?? {} });
    if (typeof given !== 'string') throw invalidOptions(`The document of source '${source.id}' must be a text.`);
    return given;
  });
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
