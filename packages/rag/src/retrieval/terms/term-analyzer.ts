import { QuiverError } from '@quiver/core';
import { Bm25Index, type Bm25Match, type Bm25SearchOptions } from '../bm25-index.js';
import { addPairs, lexicalTerms } from '../lexical-terms.js';
import { detectLanguage, hasScript } from './detect-language.js';
import { foldWord, normalizeText } from './fold-word.js';
import { english, findLanguage, type Language, languages, type Stemmer } from './languages.js';
import { splitChunk, toChunks } from './split-chunk.js';
import { stopWordLists } from './stop-word-lists.js';

/** Converts texts to the terms of keyword search. Its terms depend on nothing but its id and the arguments. */
export interface TermAnalyzer {
  /**
   * Language and version, stored with an index: another version may give other terms.
   *
   * @example 'auto-2'
   */
  readonly id: string;
  /** Returns the language that a stored text is analyzed in. @param named - language that its record names, if any */
  languageOf(text: string, named?: unknown): Language;
  /** Returns the languages that a query is analyzed in. @param stored - languages of the texts that it searches */
  queryLanguages(text: string, stored: readonly Language[]): readonly Language[];
  /** Whether {@link toTerms} can be called. */
  isLoaded(language: Language): boolean;
  /** Loads languages: their stemmers are modules of their own, and all of them take 80 ms of CPU time. */
  load(languages: Iterable<Language>): Promise<void>;
  /** Returns the terms of a text, in order. */
  toTerms(text: string, language: Language): string[];
}

const version = 2;
/** Version 1 stemmed English words with their accents: “André” and “Andre” were different terms. */
const englishOfVersion1: Language = { ...english, foldsFirst: false };

/** The analysis of indexes that record none: English, and words of other languages verbatim. */
const legacyAnalyzer: TermAnalyzer = {
  id: 'legacy',
  languageOf: () => english,
  queryLanguages: () => [english],
  isLoaded: () => true,
  load: async () => {},
  toTerms: (text) => lexicalTerms(text),
};

/**
 * Returns the id of the analyzer of a language.
 *
 * @param value - a language code, a language tag such as `de-AT`, an English name, or `auto`
 * @throws `VECTOR_ARGUMENT_INVALID` for a language that is not known
 */
export function toAnalyzerId(value: unknown): string {
  const code = value === 'auto' ? value : findLanguage(value)?.code;
  if (code !== undefined) return `${code}-${version}`;
  const known = languages.map((each) => `${each.code} (${each.name})`).join(', ');
  throw new QuiverError(
    'VECTOR_ARGUMENT_INVALID',
    `The language ${JSON.stringify(value) ?? String(value)} is not known. Pass 'auto', or one of: ${known}.`,
  );
}

/** Parameter of `createIndex()` of databases for which Quiver computes terms. */
export interface LanguageParams {
  /**
   * Language of the texts, for keyword and hybrid search, as in `LocalVector`: a code such as `de`, a language tag, an English name, or
   * `auto`, which detects the language of each text and of each query. Default `en`. An existing index keeps its language.
   */
  language?: string;
}

/**
 * Requires that an existing index has the requested language, if there is one. It keeps the version of its analyzer.
 *
 * @param analyzer - of the index
 * @throws `VECTOR_INDEX_CONFIG_MISMATCH`; `VECTOR_ARGUMENT_INVALID` for a language that is not known
 */
export function requireSameLanguage(
  indexName: string,
  analyzer: string | undefined,
  language: string | undefined,
): void {
  if (language === undefined) return;
  const languageOf = (analyzerId: string | undefined): string => analyzerId?.split('-', 1)[0] ?? 'none';
  const [existing, requested] = [languageOf(analyzer), languageOf(toAnalyzerId(language))];
  if (existing === requested) return;
  throw new QuiverError(
    'VECTOR_INDEX_CONFIG_MISMATCH',
    `The index '${indexName}' exists with the language '${existing}', not '${requested}'. Leave language out to keep it, or copy its records to a new index.`,
    { details: { indexName, existing, requested } },
  );
}

/**
 * Returns an analyzer. One of a single language is loaded.
 *
 * @param id - from {@link toAnalyzerId}; `undefined` for an index that records none
 * @throws `VECTOR_ARGUMENT_INVALID` for an id of another version of this package
 */
export async function loadAnalyzer(id: string | undefined): Promise<TermAnalyzer> {
  if (id === undefined) return legacyAnalyzer;
  const code = id.split('-', 1)[0] as string;
  const single = findLanguage(code);
  const isVersion1 = id === `${code}-1`;
  if (!(isVersion1 || id === `${code}-${version}`) || (code !== 'auto' && !single))
    throw new QuiverError(
      'VECTOR_ARGUMENT_INVALID',
      `The index was created with the terms '${id}', which this version does not know. Update @quiver/rag, or create the index again.`,
      { details: { analyzer: id } },
    );
  const inVersion = (language: Language): Language =>
    isVersion1 && language === english ? englishOfVersion1 : language;
  if (single) await loadAnalysis(inVersion(single));
  return {
    id,
    languageOf: single ? () => single : (text, named) => findLanguage(named) ?? detectLanguage(text).language,
    queryLanguages: single ? () => [single] : candidatesFor,
    isLoaded: (language) => loadedAnalyses.has(inVersion(language)),
    load: async (needed) => {
      for (const language of new Set(needed)) await loadAnalysis(inVersion(language));
    },
    toTerms: (text, language) => termsOf(text, loadedAnalyses.get(inVersion(language)) as Analysis),
  };
}

/** Returns the terms of a query. @param stored - languages of the texts that it searches */
export async function toQueryTerms(
  text: string,
  analyzer: TermAnalyzer,
  stored: readonly Language[] = [],
): Promise<string[]> {
  const needed = analyzer.queryLanguages(text, stored);
  await analyzer.load(needed);
  return union(needed.map((language) => analyzer.toTerms(text, language)));
}

/** Languages of fewer texts of the same script are ignored in queries: most of these texts are not what they were detected as. */
const smallestShare = 0.05;

/** Texts of any language, ordered by BM25 over the terms of an analyzer. */
export class KeywordIndex {
  readonly #analyzer: TermAnalyzer;
  readonly #index: Bm25Index;
  /** Texts by language, replaced and removed ones included. */
  readonly #counts = new Map<Language, number>();
  /** Texts of languages that are not loaded yet. */
  readonly #pending = new Map<number, { text: string; language: Language }>();

  constructor(analyzer: TermAnalyzer) {
    this.#analyzer = analyzer;
    this.#index = new Bm25Index();
  }

  /** Adds a text, or replaces it. @param named - language that its record names, if any */
  set(doc: number, text: string, named?: unknown): void {
    const language = this.#analyzer.languageOf(text, named);
    this.#counts.set(language, (this.#counts.get(language) ?? 0) + 1);
    this.#index.delete(doc);
    this.#pending.delete(doc);
    if (this.#analyzer.isLoaded(language)) this.#index.set(doc, this.#analyzer.toTerms(text, language));
    else this.#pending.set(doc, { text, language });
  }

  /** Removes a text, if it exists. */
  delete(doc: number): void {
    this.#pending.delete(doc);
    this.#index.delete(doc);
  }

  /** Gives a text another number, which must be free. */
  move(from: number, to: number): void {
    const pending = this.#pending.get(from);
    this.#pending.delete(from);
    if (pending) this.#pending.set(to, pending);
    else this.#index.move(from, to);
  }

  /** Returns the terms of a query. */
  async toTerms(text: string): Promise<string[]> {
    return toQueryTerms(text, this.#analyzer, frequentOf(this.#counts));
  }

  /** Whether texts cannot be found yet: await {@link load}, and check again. */
  get isLoading(): boolean {
    return this.#pending.size > 0;
  }

  /** Loads the languages of all texts. */
  async load(): Promise<void> {
    await this.#analyzer.load([...this.#pending.values()].map(({ language }) => language));
    for (const [doc, { text, language }] of this.#pending) {
      if (!this.#analyzer.isLoaded(language)) continue;
      this.#index.set(doc, this.#analyzer.toTerms(text, language));
      this.#pending.delete(doc);
    }
  }

  /** Returns texts that share a term with a query, best first. */
  search(terms: readonly string[], options: Bm25SearchOptions): Bm25Match[] {
    return this.#index.search(terms, options);
  }
}

function frequentOf(counts: ReadonlyMap<Language, number>): Language[] {
  const totals = new Map<string, number>();
  for (const [{ script }, count] of counts) totals.set(script, (totals.get(script) ?? 0) + count);
  // In an order that does not depend on that of the texts, because it decides the order of the terms and thereby of additions.
  return languages.filter(
    (language) =>
      (counts.get(language) ?? 0) > 0 &&
      (counts.get(language) as number) >= (totals.get(language.script) as number) * smallestShare,
  );
}

/** Returns the languages of a query: of each script the detected one, or all stored ones if the detection is not certain. */
function candidatesFor(text: string, stored: readonly Language[]): readonly Language[] {
  const scripts = new Set(stored.map(({ script }) => script).filter((script) => hasScript(text, script)));
  // All languages of another script treat the words of the query in the same way: Latin ones as English, others verbatim.
  if (scripts.size === 0) return stored.length > 0 ? stored.slice(0, 1) : detectedIn(text);
  return [...scripts].flatMap((script) => {
    const similar = stored.filter((each) => each.script === script);
    const { language, isCertain } = detectLanguage(text, similar);
    return isCertain ? [language] : similar;
  });
}

/** Returns the language of a text, and that of its Latin words if it is mostly in another script: “Straße 東京” is to find German texts. */
function detectedIn(text: string): Language[] {
  const { language } = detectLanguage(text);
  if (language.script === 'Latin' || !hasScript(text, 'Latin')) return [language];
  const ofWords = detectLanguage(text, latinLanguages).language;
  return ofWords === english ? [language] : [language, ofWords];
}

const latinLanguages = languages.filter(({ script }) => script === 'Latin');

/** Each term as often as in the list that contains it most often. */
function union(lists: readonly (readonly string[])[]): string[] {
  const terms: string[] = [];
  const counts = new Map<string, number>();
  for (const list of lists) {
    const own = new Map<string, number>();
    for (const term of list) {
      const count = (own.get(term) ?? 0) + 1;
      own.set(term, count);
      if (count <= (counts.get(term) ?? 0)) continue;
      counts.set(term, count);
      terms.push(term);
    }
  }
  return terms;
}

/** Everything that the terms of a language depend on. */
interface Analysis {
  readonly language: Language;
  readonly script: RegExp;
  /** Folded. */
  readonly stopWords: ReadonlySet<string>;
  readonly stem: Stemmer | undefined;
  /** For words of the Latin script in a text of another script; absent for English itself. */
  readonly english: Analysis | undefined;
  readonly known: KnownTerms;
}

/** The term or terms of chunks, which texts repeat. */
type KnownTerms = Map<string, string | readonly string[]>;

/** All languages together: 40 MB at most. A cache of 50,000 chunks for each of 39 languages took 800 MB. All are emptied when they are full. */
const mostKnown = 100_000;
const caches = new Set<KnownTerms>();
let known = 0;

/** Longer words are rarely words. */
const longestStemmed = 60;

/** The analysis of each language that was needed, at most one for each. */
const loadedAnalyses = new Map<Language, Analysis>();
const loading = new Map<Language, Promise<Analysis>>();

async function loadAnalysis(language: Language): Promise<Analysis> {
  let analysis = loading.get(language);
  if (!analysis) {
    analysis = createAnalysis(language);
    loading.set(language, analysis);
    analysis.catch(() => loading.delete(language));
  }
  loadedAnalyses.set(language, await analysis);
  return analysis;
}

async function createAnalysis(language: Language): Promise<Analysis> {
  const { code, script, loadStemmer } = language;
  const words = (stopWordLists[code] ?? []).join(' ').split(' ');
  return {
    language,
    script: new RegExp(`\\p{Script=${script}}`, 'u'),
    stopWords: new Set(words.map((word) => foldWord(normalizeText(word)))),
    stem: await loadStemmer?.(),
    english: script === 'Latin' ? undefined : await loadAnalysis(english),
    known: new Map(),
  };
}

const notAscii = /[\u0080-\uffff]/;
const asciiWord = /^[A-Z]?[a-z]+$/;

function termsOf(text: string, analysis: Analysis): string[] {
  const { known } = analysis;
  const terms: string[] = [];
  for (const chunk of toChunks(text)) {
    const found = known.get(chunk) ?? remember(chunk, termsOfChunk(chunk, analysis), known);
    if (typeof found === 'string') terms.push(found);
    else for (const term of found) terms.push(term);
  }
  return terms;
}

function remember(chunk: string, terms: readonly string[], cache: KnownTerms): string | readonly string[] {
  const found = terms.length === 1 ? (terms[0] as string) : terms;
  if (chunk.length > longestStemmed) return found;
  if (known >= mostKnown) {
    for (const each of caches) each.clear();
    caches.clear();
    known = 0;
  }
  known += 1;
  caches.add(cache);
  // A copy: engines keep the text that a long word was cut from alive with the word.
  cache.set(chunk.length > 12 ? ` ${chunk}`.slice(1) : chunk, found);
  return found;
}

function termsOfChunk(chunk: string, analysis: Analysis): readonly string[] {
  const { code } = analysis.language;
  const terms: string[] = [];
  if (asciiWord.test(chunk) && chunk.length > 1) {
    const lower = code === 'tr' ? chunk.toLocaleLowerCase('tr') : chunk.toLowerCase();
    const known = lower === chunk ? undefined : analysis.known.get(lower);
    if (known !== undefined) return typeof known === 'string' ? [known] : known;
    addSpaced(lower, analysis, terms);
    return terms;
  }
  for (const { text, isWord } of splitChunk(chunk)) {
    const lower = code === 'tr' ? text.toLocaleLowerCase('tr') : text.toLowerCase();
    if (isWord) addWord(lower, analysis, terms);
    else terms.push(foldWord(lower));
  }
  return terms;
}

/** Scripts written without spaces between words, and Korean, whose words carry their grammar with them. */
const paired = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Tibetan}ー]+/gu;
/** Scripts without spaces, whose words are found with a dictionary. */
const segmented = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;
const isUnspaced = new RegExp(`${paired.source}|${segmented.source}`, 'u');

function addWord(word: string, analysis: Analysis, terms: string[]): void {
  if (notAscii.test(word) && isUnspaced.test(word)) addUnspaced(word, analysis, terms);
  else addSpaced(word, analysis, terms);
}

const grammarLength = 4;

function addSpaced(word: string, analysis: Analysis, terms: string[]): void {
  const { language, script, stopWords, stem, english: ofLatin } = analysis;
  const isAscii = !notAscii.test(word);
  if (ofLatin && isAscii) return addSpaced(word, ofLatin, terms);
  const folded = isAscii || language.code === 'vi' ? word : foldWord(word);
  if (stopWords.has(folded)) return;
  if (word.length > longestStemmed || !(isAscii || script.test(word))) return void terms.push(folded);
  let term = folded;
  if (stem) term = language.foldsFirst ? stem(folded) : foldWord(stem(toStemmable(word, language)));
  terms.push(term);
  if (language.hasCompounds || !stem) addAffixes(term, language, terms);
}

/** The Romanian stemmer knows the letters with cedilla, which were usual before those with comma. */
function toStemmable(word: string, { code }: Language): string {
  return code === 'ro' ? word.replaceAll('ș', 'ş').replaceAll('ț', 'ţ') : word;
}

/**
 * Adds the first letters of a word, and the last ones where words are written together: “Haus” shares a term with “Hausverwaltung” and
 * “Reihenhaus”. The underscore distinguishes them from words.
 */
function addAffixes(term: string, { hasCompounds, code }: Language, terms: string[]): void {
  if (code === 'vi' || term.length < grammarLength) return;
  terms.push(`_${term.slice(0, grammarLength)}`);
  if (hasCompounds && term.length >= grammarLength + 2) terms.push(`_${term.slice(-grammarLength)}`);
}

function addUnspaced(word: string, analysis: Analysis, terms: string[]): void {
  for (const part of word.split(isUnspaced)) if (part !== '') addSpaced(part, analysis, terms);
  for (const [run] of word.matchAll(paired)) addPairs(run, terms);
  for (const [run] of word.matchAll(segmented)) {
    segmenter ??= createSegmenter();
    if (!segmenter) addPairs(run, terms);
    // The time that a part takes grows with the square of its length.
    else
      for (let at = 0; at < run.length; at += longestSegmented) {
        for (const { segment, isWordLike } of segmenter.segment(run.slice(at, at + longestSegmented)))
          if (isWordLike) terms.push(segment);
      }
  }
}

/** Longer than any phrase: such texts have spaces between phrases. */
const longestSegmented = 1000;

/** Created once, at the first word that needs it. Dictionaries are chosen by the script, not by the language. */
let segmenter: Intl.Segmenter | undefined;

/** Returns `undefined` in engines without `Intl.Segmenter`. */
function createSegmenter(): Intl.Segmenter | undefined {
  return typeof Intl.Segmenter === 'function' ? new Intl.Segmenter('th', { granularity: 'word' }) : undefined;
}
