import { type Analysis, isFunctionTerm, isQuestionWord, loadedAnalysis, termsOfWord } from './analysis.js';
import { detectLanguage, hasScript } from './detect-language.js';
import { english, type Language, languages } from './languages.js';
import { type TokenPart, splitToken, toTokens } from './split-token.js';
import type { TermAnalyzer } from './term-analyzer.js';

/** A word of a query. */
export interface QueryTerm {
  /** Its terms in the languages of the texts, which count as one. */
  readonly forms: readonly string[];
  /** Occurrences in the query. */
  readonly weight: number;
  /** Whether questions often have it, and texts rarely: its rarity means little. */
  readonly isQuestionWord: boolean;
  /** Whether a text in the language of the query does not have it: a score is not compared with it. */
  readonly isOfOtherLanguage?: boolean;
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
  if (analyzer.single) {
    await analyzer.load([analyzer.single]);
    return queryTermsIn(text, [analyzer.single]);
  }
  const { used, isCertain } = languagesOfQuery(text, stored);
  await analyzer.load(used);
  return queryTermsIn(text, used, stored && !isCertain ? otherAffixWeight : 0);
}

/** The whole of a name counts in addition to its parts, which every text with the whole has as well. */
const wholeWeight = 0.5;
/** The same for a query that looks for nothing else: texts with the whole are first. */
const wholeWeightAlone = 2;

/** Beginnings and ends of words in other languages of the texts count so much where the language of the query is open. */
const otherAffixWeight = 0.1;

interface QueryWord {
  readonly part: TokenPart;
  /** The name that it is a part of, or itself. */
  readonly token: string;
  readonly terms: readonly string[];
}

/**
 * Returns the terms of a query in languages that are loaded, its own first.
 *
 * @param affixWeight - weight of beginnings and ends of words that only the other languages add
 */
export function queryTermsIn(
  text: string,
  [own, ...others]: readonly [Language, ...Language[]],
  affixWeight = 0,
): QueryTerm[] {
  const analysis = loadedAnalysis(own) as Analysis;
  const inOthers = others.map((language) => loadedAnalysis(language) as Analysis);
  const words = contentOf(
    toTokens(text).flatMap((token) =>
      splitToken(token).map((part): QueryWord => ({ part, token, terms: termsOfWord(part, analysis) })),
    ),
  );
  const ofQuestion = new Set(words.filter(({ part }) => isQuestionWord(part, analysis)));
  const tokens = new Set(words.filter((word) => !ofQuestion.has(word)).map(({ token }) => token));
  const weightOfWhole = tokens.size === 1 ? wholeWeightAlone : wholeWeight;
  const found = new Map<string, QueryTerm>();
  for (const word of words) {
    const { part, terms } = word;
    for (const [at, term] of terms.entries()) {
      const forms = [term];
      // Some languages add beginnings and ends of words, which are also those of other words: only the language of the query does.
      if (at === 0)
        for (const other of inOthers) {
          const [main] = termsOfWord(part, other);
          if (main !== undefined && !forms.includes(main)) forms.push(main);
        }
      const key = forms.length === 1 ? term : forms.join(' ');
      const weight = (found.get(key)?.weight ?? 0) + (part.isWhole ? weightOfWhole : 1);
      found.set(key, { forms, weight, isQuestionWord: ofQuestion.has(word) });
    }
    const affixes = affixWeight === 0 ? [] : inOthers.flatMap((other) => termsOfWord(part, other).slice(1));
    const ofAffix = { weight: affixWeight, isQuestionWord: ofQuestion.has(word), isOfOtherLanguage: true };
    for (const affix of affixes) if (!found.has(affix)) found.set(affix, { forms: [affix], ...ofAffix });
  }
  return [...found.values()];
}

/** Returns words without those that have no subject; all of them if there are no others. */
function contentOf(words: readonly QueryWord[]): readonly QueryWord[] {
  const content = words.filter(({ terms: [term = ''] }) => !isFunctionTerm(term));
  return content.length > 0 ? content : words;
}

/**
 * Returns the languages of a query, its own first, then the others of the texts. A store that does not know them has texts of any language:
 * if the language of the query is clear, texts of this one are searched, and of English, which texts count as that do not show theirs.
 */
function languagesOfQuery(
  text: string,
  stored: readonly Language[] | undefined,
): { used: readonly [Language, ...Language[]]; isCertain: boolean } {
  const { language, isCertain } = detectLanguage(text, stored);
  const candidates = stored ?? (isCertain ? [language, english] : languages);
  const isAscii = !/[\u0080-\uffff]/.test(text);
  const usable = candidates.filter(({ script }) => (isAscii ? script === 'Latin' : hasScript(text, script)));
  // Words are the same in all languages of other scripts, English among them.
  if (usable.length < candidates.length) usable.push(english);
  const own = isCertain || !stored ? language : (usable[0] ?? english);
  return { used: [own, ...new Set(usable.filter((each) => each !== own))], isCertain };
}
