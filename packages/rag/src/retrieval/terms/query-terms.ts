import { type Analysis, contentOf, loadedAnalysis, type QueryWord, wordsOf } from './analysis.js';
import { detectLanguage, hasScript } from './detect-language.js';
import { english, type Language, languages } from './languages.js';
import type { TermAnalyzer } from './term-analyzer.js';

/** A word of a query. */
export interface QueryTerm {
  /** Its terms in the languages of the texts, which count as one. */
  readonly forms: readonly string[];
  /** Occurrences in the query. */
  readonly weight: number;
  /** Whether questions often have it, and texts rarely: its rarity means little. */
  readonly isQuestionWord: boolean;
}

/**
 * Returns the terms of a query, in every language that a text may have. Words without a subject are left out if there are others.
 *
 * @param stored - languages of the texts that it searches, the most frequent first; absent where the store does not know them
 */
export async function toQueryTerms(
  text: string,
  analyzer: TermAnalyzer,
  stored?: readonly Language[],
): Promise<QueryTerm[]> {
  const used = analyzer.single ? [analyzer.single] : languagesOfQuery(text, stored);
  await analyzer.load(used);
  return queryTermsIn(text, used as [Language, ...Language[]]);
}

/** The whole of a name counts in addition to its parts, which every text with the whole has as well. */
const wholeWeight = 0.5;
/** The same for a query that looks for nothing else: texts with the whole are first. */
const wholeWeightAlone = 2;

/** Returns the terms of a query in languages that are loaded, its own first. */
export function queryTermsIn(text: string, [own, ...others]: readonly [Language, ...Language[]]): QueryTerm[] {
  const wordsIn = (language: Language): QueryWord[] => wordsOf(text, loadedAnalysis(language) as Analysis);
  const words = wordsIn(own);
  const inOthers = others.map(wordsIn);
  const searched = new Set(contentOf(words));
  const chunks = new Set([...searched].filter(({ isQuestionWord }) => !isQuestionWord).map(({ chunk }) => chunk));
  const weightOf = ({ isWhole }: QueryWord): number =>
    isWhole ? (chunks.size === 1 ? wholeWeightAlone : wholeWeight) : 1;
  const found = new Map<string, QueryTerm>();
  for (const [place, word] of words.entries()) {
    if (!searched.has(word)) continue;
    const alike = inOthers.map((list) => (list[place] as QueryWord).terms);
    for (const [at, term] of word.terms.entries()) {
      // Some languages add beginnings and ends of words, which are also those of other words: only the language of the query does.
      const forms = new Set([term, ...(at === 0 ? alike.flatMap(([main]) => main ?? []) : [])]);
      const key = [...forms].join(' ');
      const weight = (found.get(key)?.weight ?? 0) + weightOf(word);
      found.set(key, { forms: [...forms], weight, isQuestionWord: word.isQuestionWord });
    }
  }
  return [...found.values()];
}

/**
 * Returns the languages of a query, its own first, then the others of the texts. A store that does not know them has texts of any language:
 * if the language of the query is clear, texts of this one are searched, and of English, which texts count as that do not show theirs.
 */
function languagesOfQuery(text: string, stored: readonly Language[] | undefined): readonly Language[] {
  const { language, isCertain } = detectLanguage(text, stored);
  const candidates = stored ?? (isCertain ? [language, english] : languages);
  const usable = candidates.filter(({ script }) => hasScript(text, script));
  // Words are the same in all languages of other scripts, English among them.
  if (usable.length < candidates.length) usable.push(english);
  const own = isCertain || !stored ? language : (usable[0] ?? english);
  return [...new Set([own, ...usable])];
}
