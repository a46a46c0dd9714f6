import { Bm25Index, type Bm25Match, type Bm25SearchOptions } from '../bm25-index.js';
import { english, type Language, languages } from './languages.js';
import { type QueryTerm, toQueryTerms } from './query-terms.js';
import type { TermAnalyzer } from './term-analyzer.js';

/** Texts of any language, ordered by BM25 over the terms of an analyzer. */
export class KeywordIndex {
  readonly #analyzer: TermAnalyzer;
  readonly #index = new Bm25Index();
  /** Language of each text that shows it. */
  readonly #languages: (Language | undefined)[] = [];
  /** Texts by language. */
  readonly #counts = new Map<Language, number>();
  /** Texts that do not show their language, all of the Latin script: they have that of most others. */
  readonly #uncertain = new Map<number, string>();
  #common: Language;
  /** Texts whose terms are not in the index yet. */
  readonly #pending = new Map<number, { text: string; language: Language }>();

  constructor(analyzer: TermAnalyzer) {
    this.#analyzer = analyzer;
    this.#common = this.#mostCommon();
  }

  /** Adds a text, or replaces it. @param named - language that its record names, if any */
  set(doc: number, text: string, named?: unknown): void {
    this.delete(doc);
    const language = this.#analyzer.languageOf(text, named);
    if (language) this.#count(doc, language, 1);
    else this.#uncertain.set(doc, text);
    this.#analyze(doc, text, language ?? this.#common);
  }

  /** Removes a text, if it exists. */
  delete(doc: number): void {
    const language = this.#languages[doc];
    if (language) this.#count(doc, language, -1);
    this.#uncertain.delete(doc);
    this.#pending.delete(doc);
    this.#index.delete(doc);
  }

  /** Gives a text another number, which must be free. */
  move(from: number, to: number): void {
    const language = this.#languages[from];
    if (language) {
      this.#languages[from] = undefined;
      this.#languages[to] = language;
    }
    moveKey(this.#uncertain, from, to);
    moveKey(this.#pending, from, to);
    this.#index.move(from, to);
  }

  /** Returns the terms of a query. */
  async toTerms(text: string): Promise<QueryTerm[]> {
    while (this.isLoading) await this.#load();
    const stored = languages.filter((language) => this.#counts.has(language) || language === this.#common);
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

  /** Loads the languages of all texts. */
  async #load(): Promise<void> {
    const common = this.#mostCommon();
    if (common !== this.#common) {
      this.#common = common;
      for (const [doc, text] of this.#uncertain) this.#pending.set(doc, { text, language: common });
    }
    await this.#analyzer.load([...this.#pending.values()].map(({ language }) => language));
    for (const [doc, { text, language }] of this.#pending) this.#analyze(doc, text, language);
  }

  #analyze(doc: number, text: string, language: Language): void {
    const isLoaded = this.#analyzer.isLoaded(language);
    if (isLoaded) this.#index.set(doc, this.#analyzer.toTerms(text, language));
    else this.#index.delete(doc);
    if (isLoaded) this.#pending.delete(doc);
    else this.#pending.set(doc, { text, language });
  }

  #count(doc: number, language: Language, change: 1 | -1): void {
    const count = (this.#counts.get(language) ?? 0) + change;
    if (count === 0) this.#counts.delete(language);
    else this.#counts.set(language, count);
    this.#languages[doc] = change === 1 ? language : undefined;
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

function moveKey<Value>(map: Map<number, Value>, from: number, to: number): void {
  const value = map.get(from);
  if (value === undefined) return;
  map.delete(from);
  map.set(to, value);
}
