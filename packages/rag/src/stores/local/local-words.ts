import { KeywordIndex, type KeywordText, type StoredKeywords } from '../../words/keyword-index.js';
import type { QueryTerm } from '../../words/query-terms.js';
import { loadAnalyzer, type TermAnalyzer } from '../../words/term-analyzer.js';

/** Terms are stored again when more than this share of the texts has changed: a reopened index analyzes no more than these. */
const storedAgain = 1 / 64;

/** Storage of the terms of an index. */
export interface WordStorage {
  /** Version of the index that the stored terms are of; `undefined` without them. */
  readonly version: string | undefined;
  /** Returns the terms of this version; `undefined` if they are no longer there, or not whole. */
  read(analyzer: string): Promise<StoredKeywords | undefined>;
  /** Replaces the terms. A failure is logged: they are there to save time. */
  write(keywords: StoredKeywords, of: { version: string; analyzer: string }): Promise<void>;
  delete(): Promise<void>;
}

/** The texts of an index, by row. */
export interface TextRows {
  readonly count: number;
  textOf(row: number): KeywordText;
}

/** The terms of an index: read or made by the first search for words, kept up from then on, and stored when many of them have changed. */
export class LocalWords {
  readonly #analyzerId: string;
  readonly #texts: TextRows;
  readonly #storage: WordStorage | undefined;
  #keywords: KeywordIndex | undefined;
  /** Version of the index. */
  #version = '';
  /** By row: number of its text in the stored terms, −1 for a text that has changed since. Absent if they are not of this index. */
  #storedRows: number[] | undefined;
  /** Texts that have changed since the terms were stored. */
  #changed = 0;

  constructor(analyzerId: string, texts: TextRows, storage: WordStorage | undefined) {
    this.#analyzerId = analyzerId;
    this.#texts = texts;
    this.#storage = storage;
  }

  /** A row was added or has changed. */
  set(row: number): void {
    this.#changed += 1;
    if (this.#storedRows) this.#storedRows[row] = -1;
    this.#keywords?.set(row);
  }

  /** A row was removed. @param moved - the row that has taken its place */
  remove(row: number, moved: number | undefined): void {
    this.#changed += 1;
    const last = this.#storedRows?.pop();
    this.#keywords?.delete(row);
    if (moved === undefined) return;
    if (this.#storedRows) this.#storedRows[row] = last as number;
    this.#keywords?.move(moved, row);
  }

  clear(): void {
    this.#storedRows = undefined;
    this.#keywords = undefined;
  }

  /** The index has this version now. */
  reach(version: string): void {
    this.#version = version;
    if (version !== this.#storage?.version || this.#keywords) return;
    this.#storedRows = Array.from({ length: this.#texts.count }, (_, row) => row);
    this.#changed = 0;
  }

  /** The index has another version without a change of its rows, because its log was rewritten. */
  async renew(version: string): Promise<void> {
    await this.#storage?.delete();
    this.#version = version;
    this.#storedRows = undefined;
    this.#changed = this.#texts.count;
  }

  /** Returns the terms of all texts, and those of a query. @throws `OPTIONS_INVALID` for an unknown analyzer */
  async find(queryText: string): Promise<{ keywords: KeywordIndex; terms: QueryTerm[] }> {
    for (;;) {
      const keywords = this.#keywords ?? (await this.#load());
      const terms = await keywords.toTerms(queryText);
      // The index may have been changed or emptied in the meantime.
      if (keywords === this.#keywords && !keywords.isLoading) return { keywords, terms };
    }
  }

  /** Stores the terms if they are worth it. */
  async store(): Promise<void> {
    if (!this.#storage || !this.#keywords || this.#keywords.isLoading) return;
    if (this.#changed <= this.#texts.count * storedAgain) return;
    this.#changed = 0;
    await this.#storage.write(this.#keywords.read(), { version: this.#version, analyzer: this.#analyzerId });
  }

  async #load(): Promise<KeywordIndex> {
    const analyzer = await loadAnalyzer(this.#analyzerId);
    const stored = this.#storedRows && (await this.#storage?.read(this.#analyzerId));
    // Another search may have made it in the meantime.
    this.#keywords ??= this.#create(analyzer, stored);
    this.#storedRows = undefined;
    return this.#keywords;
  }

  #create(analyzer: TermAnalyzer, stored: StoredKeywords | undefined): KeywordIndex {
    const { count } = this.#texts;
    const textOf = (row: number): KeywordText => this.#texts.textOf(row);
    // Absent also where the index was emptied while the terms were read.
    const places = stored && this.#storedRows;
    const rowOfPlace = Array.from({ length: places ? stored.languages.length : 0 }, () => -1);
    for (const [row, place] of places?.entries() ?? []) if (place !== -1) rowOfPlace[place] = row;
    const keywords = new KeywordIndex(analyzer, textOf, places && stored, rowOfPlace);
    for (let row = 0; row < count; row += 1) if ((places?.[row] ?? -1) === -1) keywords.set(row);
    if (!places) this.#changed = count;
    return keywords;
  }
}
