import { QuiverError } from '@quiver/core';
import { invalidOptions } from '@quiver/core/internal';
import { type Analysis, isFunctionTerm, loadAnalysis, loadedAnalysis, termsOf } from './analysis.js';
import { languagesOfText, type TextLanguages } from './detect-language.js';
import { english, findLanguage, type Language, languages } from './languages.js';

/** Converts texts to the terms of keyword search. Its terms depend on nothing but the id that it was loaded by, and the arguments. */
export interface TermAnalyzer {
  /** Language of all texts; absent where each text has its own. */
  readonly single: Language | undefined;
  /**
   * Returns the language that a stored text is analyzed in, or those that it leaves open, the terms of which it gets. Text of another script than
   * Latin has a language of this script.
   *
   * @param named - language that its record names, if any
   */
  languagesOf(text: string, named?: unknown): TextLanguages;
  /** Whether {@link toTerms} can be called. */
  isLoaded(language: Language): boolean;
  /** Loads languages: their stemmers are modules of their own, and all of them take 80 ms of CPU time. */
  load(languages: Iterable<Language>): Promise<void>;
  /** Returns the terms of a text in its languages: those of the first in order, then those that the others add. */
  toTerms(text: string, languages: readonly Language[]): string[];
}

const version = 3;

/**
 * Returns the id of the analyzer of a language: language and version, stored with an index, because another version may give other terms.
 *
 * @param value - a language code, a language tag such as `de-AT`, an English name, or `auto`. Default `en`
 * @throws `OPTIONS_INVALID` for a language that is not known
 */
export function toAnalyzerId(value: unknown = english.code): string {
  const code = value === 'auto' ? value : findLanguage(value)?.code;
  if (code !== undefined) return `${code}-${version}`;
  const known = languages.map((each) => `${each.code} (${each.name})`).join(', ');
  throw invalidOptions(
    `The language ${JSON.stringify(value) ?? String(value)} is not known. Pass 'auto', or one of: ${known}.`,
  );
}

/** Returns the language in the id of an analyzer: a code, or `auto`. */
export function languageOfAnalyzer(id: string): string {
  return id.split('-', 1)[0] as string;
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
 * @throws `VECTOR_INDEX_CONFIG_MISMATCH`; `OPTIONS_INVALID` for a language that is not known
 */
export function requireSameLanguage(
  indexName: string,
  analyzer: string | undefined,
  language: string | undefined,
): void {
  if (language === undefined) return;
  const existing = analyzer === undefined ? 'none' : languageOfAnalyzer(analyzer);
  const requested = languageOfAnalyzer(toAnalyzerId(language));
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
 * @param id - from {@link toAnalyzerId}, as an index records it
 * @throws `OPTIONS_INVALID` for an id of another version of this package
 */
export async function loadAnalyzer(id: string): Promise<TermAnalyzer> {
  const code = languageOfAnalyzer(id);
  const single = findLanguage(code);
  if (id !== `${code}-${version}` || (code !== 'auto' && !single))
    throw invalidOptions(
      `The index was created with the terms '${id}', and this version of @quiver/rag reads those of version ${version}. Create the index again.`,
      { details: { analyzer: id } },
    );
  if (single) await loadAnalysis(single);
  return {
    single,
    languagesOf: single ? () => ({ shown: single, likely: [single] }) : languagesOfText,
    isLoaded: (language) => loadedAnalysis(language) !== undefined,
    load: async (needed) => {
      for (const language of new Set(needed)) await loadAnalysis(language);
    },
    toTerms: (text, [first, ...others]) => {
      const terms = termsOf(text, loadedAnalysis(first ?? english) as Analysis);
      for (const other of others) {
        const known = new Set(terms);
        for (const term of termsOf(text, loadedAnalysis(other) as Analysis)) {
          if (!known.has(term) && !isFunctionTerm(term)) terms.push(term);
        }
      }
      return terms;
    },
  };
}
