import { Bm25Index, type Bm25Match, type Bm25SearchOptions } from './bm25-index.js';
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
  /** Texts that do not show their language, all of the Latin script: they get the terms of that of most others, and of those that they may have. */
  readonly #uncertain = new Map<number, { text: string; likely: readonly Language[] }>();
  /** Those texts by each language that they may have, which queries are read in as well. */
  readonly #likely = new Map<Language, number>();
  #common: Language;
  /** Texts whose terms are not in the index yet. */
  readonly #pending = new Map<number, { text: string; languages: readonly Language[] }>();

  constructor(analyzer: TermAnalyzer) {
    this.#analyzer = analyzer;
    this.#common = this.#mostCommon();
  }

  /** Adds a text, or replaces it. @param named - language that its record names, if any */
  set(doc: number, text: string, named?: unknown): void {
    this.delete(doc);
    const { shown, likely } = this.#analyzer.languagesOf(text, named);
    if (shown) {
      add(this.#counts, shown, 1);
      this.#languages[doc] = shown;
    } else {
      for (const each of likely) add(this.#likely, each, 1);
      this.#uncertain.set(doc, { text, likely });
    }
    this.#analyze(doc, text, shown ? [shown] : this.#languagesOf(likely));
  }

  /** Removes a text, if it exists. */
  delete(doc: number): void {
    const language = this.#languages[doc];
    if (language) {
      add(this.#counts, language, -1);
      this.#languages[doc] = undefined;
    }
    for (const each of this.#uncertain.get(doc)?.likely ?? []) add(this.#likely, each, -1);
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

  /** Loads the languages of all texts. */
  async #load(): Promise<void> {
    const common = this.#mostCommon();
    if (common !== this.#common) {
      this.#common = common;
      for (const [doc, { text, likely }] of this.#uncertain)
        this.#pending.set(doc, { text, languages: this.#languagesOf(likely) });
    }
    await this.#analyzer.load([...this.#pending.values()].flatMap((each) => each.languages));
    for (const [doc, { text, languages: own }] of this.#pending) this.#analyze(doc, text, own);
  }

  #languagesOf(likely: readonly Language[]): readonly Language[] {
    return [...new Set([this.#common, ...likely])];
  }

  #analyze(doc: number, text: string, own: readonly Language[]): void {
    const isLoaded = own.every((language) => this.#analyzer.isLoaded(language));
    if (isLoaded) this.#index.set(doc, this.#analyzer.toTerms(text, own));
    else this.#index.delete(doc);
    if (isLoaded) this.#pending.delete(doc);
    else this.#pending.set(doc, { text, languages: own });
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

function moveKey<Value>(map: Map<number, Value>, from: number, to: number): void {
  const value = map.get(from);
  if (value === undefined) return;
  map.delete(from);
  map.set(to, value);
}
