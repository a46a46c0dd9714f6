import { QuiverError } from '@quiver/core';
import { recordText } from '../store/check-arguments.js';
import type { VectorMetadata } from '../store/vector-store.js';
import { findQuotes, type Quote } from './find-quotes.js';
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
}

/** A quote that is in a source. */
export interface FoundQuote extends Quote {
  /** In the order of the sources, at least one. */
  places: QuotePlace[];
}

/** Result of `verifyQuotes()`. */
export interface QuoteReport {
  found: FoundQuote[];
  /** Quotes that are in no source. */
  missing: Quote[];
}

/** Options of `verifyQuotes()`. */
export interface VerifyQuotesOptions {
  /** Characters of the shortest quote to verify, so that single words in quotation marks are ignored. Default 15. */
  minLength?: number;
  /** Characters of a source that an ellipsis in a quote can stand for. Default 500. */
  maxGap?: number;
  /** Number of places to report for a quote. Default 10. */
  maxPlaces?: number;
}

/**
 * Finds the quotes of an answer in its sources, by their characters: “…”, "…", «…», »…«, „…“, and paragraphs of Markdown block quotes.
 *
 * Any white space equals any other, and so do the forms of quotation marks and of hyphens, and a letter with its marks in one character
 * or in several. Soft hyphens and characters without width are ignored, and so is a comma or period before the closing mark, which may belong to the sentence of the answer. An ellipsis (`…`, `...`,
 * `[…]`) inside a quote stands for at most `maxGap` characters. Everything else counts, including upper and lower case.
 *
 * Time grows linearly with answer and sources.
 *
 * @throws `CITATION_INVALID` for arguments of wrong types; `CITATION_TOO_COSTLY` for quotes with ellipses whose parts occur more than a
 *   million times in the sources
 * @example
 * const { found, missing } = verifyQuotes(answer, sources);
 * if (missing.length > 0) console.warn('Not in the sources:', missing.map(({ text }) => text));
 */
export function verifyQuotes(
  answer: string,
  sources: readonly QuoteSource[],
  options: VerifyQuotesOptions = {},
): QuoteReport {
  const { minLength, maxGap, maxPlaces } = checkOptions(options);
  const texts = checkSources(answer, sources);
  const quotes = findQuotes(answer)
    .filter(({ text }) => text.length >= minLength)
    .map((quote) => ({ quote, content: toContent(quote.text) }))
    .filter(({ content: { parts } }) => parts.reduce((sum, { length }) => sum + length, 0) >= minLength);
  const states = new Map(
    quotes.map(({ content }): [string, QuoteState] => [content.key, { content, places: [], source: -1 }]),
  );
  const patterns = new Patterns([...states.values()]);
  let steps = 0;
  for (const [source, text] of states.size === 0 ? [] : texts.entries()) {
    const folded = foldText(text);
    patterns.automaton.search(folded.units, (pattern, end) => {
      for (const { state, part } of patterns.users[pattern]!) {
        const { content, places } = state;
        if (places.length >= maxPlaces) continue;
        if (content.parts.length > 1 && ++steps > maxSteps) throw tooCostly();
        if (!state.search || state.source !== source) {
          state.search = createSearch(content.parts, maxGap);
          state.source = source;
        }
        const start = state.search(part, end);
        if (start === undefined) continue;
        const isPunctuated = content.punctuation !== undefined && folded.units[end] === content.punctuation;
        places.push(toPlace(sources[source] as QuoteSource, text, folded, start, isPunctuated ? end + 1 : end));
        if (places.length === maxPlaces) patterns.release(content);
      }
    });
  }
  const found = quotes.map(({ quote, content }) => ({ ...quote, places: states.get(content.key)!.places }));
  return {
    found: found.filter(({ places }) => places.length > 0),
    missing: found.flatMap(({ places, ...quote }) => (places.length > 0 ? [] : [quote])),
  };
}

/** A quote during the search. */
interface QuoteState {
  readonly content: QuoteContent;
  readonly places: QuotePlace[];
  /** Index of the source that `search` belongs to. */
  source: number;
  search?: QuoteSearch;
}

/** About a third of a second of CPU time. */
const maxSteps = 1_000_000;

function tooCostly(): QuiverError {
  return new QuiverError(
    'CITATION_TOO_COSTLY',
    `Parts of quotes with ellipses occur more than ${maxSteps} times in the sources. Verify the answer against fewer sources.`,
  );
}

function checkOptions({ minLength = 15, maxGap = 500, maxPlaces = 10 }: VerifyQuotesOptions): {
  minLength: number;
  maxGap: number;
  maxPlaces: number;
} {
  const options = { minLength, maxGap, maxPlaces };
  for (const [name, value] of Object.entries(options)) {
    const least = name === 'maxGap' ? 0 : 1;
    if (!Number.isSafeInteger(value) || value < least)
      throw invalid(`${name} must be a whole number of at least ${least}, not ${String(value)}.`);
  }
  return options;
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
  return new QuiverError('CITATION_INVALID', message);
}

/** Content of a quote in the form of the search. Quotes with equal content have equal places. */
interface QuoteContent {
  readonly key: string;
  /** Folded parts between ellipses, without a last comma or period. */
  readonly parts: readonly Uint16Array[];
  /** The last comma or period. */
  readonly punctuation: number | undefined;
}

function toContent(text: string): QuoteContent {
  const parts: Uint16Array[] = [];
  const add = (from: number, to: number): void => {
    const units = foldQuote(text.slice(from, to));
    if (units.length > 0) parts.push(units);
  };
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const end = ellipsisEnd(text, at);
    if (end === at) continue;
    const isBracketed = (text[at - 1] === '[' && text[end] === ']') || (text[at - 1] === '(' && text[end] === ')');
    add(from, isBracketed ? at - 1 : at);
    from = isBracketed ? end + 1 : end;
    at = from - 1;
  }
  add(from, text.length);
  const last = parts.at(-1);
  const punctuation =
    last && last.length > 1 && (last.at(-1) === comma || last.at(-1) === period) ? last.at(-1) : undefined;
  if (last && punctuation !== undefined) parts[parts.length - 1] = last.subarray(0, -1);
  return { key: `${parts.map(toKey).join('\0')}\0${punctuation ?? ''}`, parts, punctuation };
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

/** Receives the places where parts of a quote end, in order, and returns the start of the quote when it is complete. */
type QuoteSearch = (part: number, end: number) => number | undefined;

/** Places of the first parts of a quote, up to one part. */
interface Beginning {
  readonly starts: number[];
  readonly ends: number[];
  /** Last one that ends before the next part that was seen. */
  at: number;
}

/**
 * Searches for a quote in one source. The parts must follow each other without overlap, and the nearest ones count. Places of the quote do
 * not overlap.
 */
function createSearch(parts: readonly Uint16Array[], maxGap: number): QuoteSearch {
  const beginnings = parts.map((): Beginning => ({ starts: [], ends: [], at: -1 }));
  let last = 0;
  return (part, end) => {
    const from = end - parts[part]!.length;
    let start: number | undefined = from;
    const before = beginnings[part - 1];
    if (before) {
      while (before.at + 1 < before.ends.length && before.ends[before.at + 1]! <= from) before.at += 1;
      const gap = before.at < 0 ? Number.POSITIVE_INFINITY : from - before.ends[before.at]!;
      start = gap <= maxGap ? before.starts[before.at] : undefined;
    }
    if (start === undefined || start < last) return undefined;
    if (part < parts.length - 1) {
      beginnings[part]!.starts.push(start);
      beginnings[part]!.ends.push(end);
      return undefined;
    }
    last = end;
    return start;
  };
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
