import { Bm25Index, type Bm25Match, type Bm25SearchOptions, type StoredTerms } from './bm25-index.js';
import type { TextLanguages } from './detect-language.js';
import { english, type Language, languages } from './languages.js';
import { type QueryTerm, toQueryTerms } from './query-terms.js';
import type { TermAnalyzer } from './term-analyzer.js';

/** A text to be found. */
export interface KeywordText {
  readonly text: string;
  /** Language that its record names, if any. */
  readonly language?: unknown;
}

/** Texts numbered from 0, as {@link KeywordIndex.read} returns them. */
export interface StoredKeywords extends StoredTerms {
  /** Language of texts that do not show theirs. */
  readonly common: Language;
  /** Languages of each text. */
  readonly languages: readonly TextLanguages[];
}

/** Texts of any language, ordered by BM25 over the terms of an analyzer. */
export class KeywordIndex {
  readonly #analyzer: TermAnalyzer;
  readonly #textOf: (doc: number) => KeywordText;
  readonly #index: Bm25Index;
  /** Texts that do not show theirs, all of the Latin script, get the terms of that of most others, and of those that they may have. */
  readonly #languages: (TextLanguages | undefined)[] = [];
  /** Texts by the language that they show. */
  readonly #counts = new Map<Language, number>();
  /** The other texts by each language that they may have, which queries are read in as well. */
  readonly #likely = new Map<Language, number>();
  #common: Language;
  readonly #pending = new Set<number>();

  /**
   * @param textOf - returns a text, also again when another language of the texts becomes the most common one
   * @param stored - with the same analyzer
   * @param docs - the current number of each stored text, −1 for one that was changed or removed
   */
  constructor(
    analyzer: TermAnalyzer,
    textOf: (doc: number) => KeywordText,
    stored?: StoredKeywords,
    docs: readonly number[] = [],
  ) {
    this.#analyzer = analyzer;
    this.#textOf = textOf;
    this.#index = new Bm25Index(stored, docs);
    this.#common = stored?.common ?? this.#mostCommon();
    for (const [place, doc] of docs.entries())
      if (stored && doc !== -1) this.#setLanguages(doc, stored.languages[place] as TextLanguages);
  }

  /** Returns the texts, whose numbers have no gaps, to be stored. None {@link isLoading}. */
  read(): StoredKeywords {
    const ofTexts = this.#languages.slice(0, this.#index.count) as TextLanguages[];
    return { ...this.#index.read(), common: this.#common, languages: ofTexts };
  }

  /** Adds a text, or replaces it. */
  set(doc: number): void {
    this.delete(doc);
    const { text, language } = this.#textOf(doc);
    this.#setLanguages(doc, this.#analyzer.languagesOf(text, language));
    this.#analyze(doc, text);
  }

  /** Removes a text, if it exists. */
  delete(doc: number): void {
    this.#setLanguages(doc, undefined);
    this.#pending.delete(doc);
    this.#index.delete(doc);
  }

  /** Gives a text another number, which must be free. */
  move(from: number, to: number): void {
    this.#languages[to] = this.#languages[from];
    this.#languages[from] = undefined;
    if (this.#pending.delete(from)) this.#pending.add(to);
    this.#index.move(from, to);
  }

  /** Returns the terms of a query. */
  async toTerms(text: string): Promise<QueryTerm[]> {
    while (this.isLoading) await this.#load();
    const stored = languages.filter((language) => this.#counts.has(language) || this.#likely.has(language));
    // The order does not depend on that of the texts, because it decides the order of the terms and thereby of additions.
    return toQueryTerms(text, this.#analyzer, [this.#common, ...stored.filter((each) => each !== this.#common)]);
  }

  /** Whether texts cannot be found yet: get the terms of the query again. */
  get isLoading(): boolean {
    return this.#pending.size > 0 || this.#mostCommon() !== this.#common;
  }

  /** Returns texts that share a term with a query, best first. */
  search(terms: readonly QueryTerm[], options: Bm25SearchOptions): Bm25Match[] {
    return this.#index.search(terms, options);
  }

  async #load(): Promise<void> {
    const common = this.#mostCommon();
    if (common !== this.#common) {
      this.#common = common;
      for (const [doc, own] of this.#languages.entries()) if (own && !own.shown) this.#pending.add(doc);
    }
    await this.#analyzer.load([...this.#pending].flatMap((doc) => this.#languagesOf(doc)));
    for (const doc of this.#pending) this.#analyze(doc, this.#textOf(doc).text);
  }

  #setLanguages(doc: number, own: TextLanguages | undefined): void {
    const before = this.#languages[doc];
    if (before) this.#count(before, -1);
    if (own) this.#count(own, 1);
    this.#languages[doc] = own;
  }

  #count({ shown, likely }: TextLanguages, change: 1 | -1): void {
    if (shown) add(this.#counts, shown, change);
    else for (const each of likely) add(this.#likely, each, change);
  }

  #languagesOf(doc: number): readonly Language[] {
    const { shown, likely } = this.#languages[doc] as TextLanguages;
    return shown ? [shown] : [...new Set([this.#common, ...likely])];
  }

  #analyze(doc: number, text: string): void {
    const own = this.#languagesOf(doc);
    if (own.every((language) => this.#analyzer.isLoaded(language))) {
      this.#index.set(doc, this.#analyzer.toTerms(text, own));
      this.#pending.delete(doc);
    } else {
      this.#index.delete(doc);
      this.#pending.add(doc);
    }
  }

  /**
   * Returns the language of most texts of the Latin script that show theirs, equal numbers in the order of the languages; English where no
   * text does.
   */
  #mostCommon(): Language {
    let [common, most] = [this.#analyzer.single ?? english, 0];
    for (const language of latinLanguages) {
      const count = this.#counts.get(language) ?? 0;
      if (count > most) [common, most] = [language, count];
    }
    return common;
  }
}

const latinLanguages = languages.filter(({ script }) => script === 'Latin');

function add(counts: Map<Language, number>, language: Language, change: 1 | -1): void {
  const count = (counts.get(language) ?? 0) + change;
  if (count === 0) counts.delete(language);
  else counts.set(language, count);
}
