import { stemmer } from 'stemmer';
import { foldWord, normalizeText } from './fold-word.js';
import { english, type Language, type Stemmer } from './languages.js';
import { questionWords } from './question-words.js';
import { type TokenPart, splitToken, toTokens } from './split-token.js';
import { stopWordLists } from './stop-word-lists.js';

/** Everything that the terms of a language depend on. */
export interface Analysis {
  readonly language: Language;
  readonly script: RegExp;
  /** Folded. Only a query of nothing else searches them. */
  readonly stopWords: ReadonlySet<string>;
  /** Folded. They count little in a query. */
  readonly questionWords: ReadonlySet<string>;
  readonly stem: Stemmer | undefined;
  /** For words of the Latin script in a text of another script; absent for English itself. */
  readonly english: Analysis | undefined;
  readonly known: KnownTerms;
}

type KnownTerms = Map<string, string | readonly string[]>;

/** All languages together: 40 MB at most. A cache of 50,000 tokens for each of 39 languages took 800 MB. All are emptied when they are full. */
const mostKnown = 100_000;
const caches = new Set<KnownTerms>();
let known = 0;

/** Longer words are rarely words. */
const longestStemmed = 60;

/** The analysis of each language that was needed, at most one for each. */
const loadedAnalyses = new Map<Language, Analysis>();

/** Returns the analysis of a language that is loaded. */
export function loadedAnalysis(language: Language): Analysis | undefined {
  return language === english ? englishAnalysis() : loadedAnalyses.get(language);
}

/** Returns the analysis of English, which is always there: stores and embedders that cannot wait, or know no other, use it. */
export function englishAnalysis(): Analysis {
  const loaded = loadedAnalyses.get(english) ?? createAnalysis(english, stemmer);
  loadedAnalyses.set(english, loaded);
  return loaded;
}

export async function loadAnalysis(language: Language): Promise<Analysis> {
  const stem = loadedAnalysis(language) ? undefined : await language.loadStemmer?.();
  // Another call may have loaded it in the meantime.
  const analysis = loadedAnalysis(language) ?? createAnalysis(language, stem);
  loadedAnalyses.set(language, analysis);
  return analysis;
}

function createAnalysis(language: Language, stem: Stemmer | undefined): Analysis {
  const { code, script } = language;
  const toSet = (words: string): ReadonlySet<string> =>
    new Set(words.split(' ').map((word) => fold(normalizeText(word), language)));
  return {
    language,
    script: new RegExp(`\\p{Script=${script}}`, 'u'),
    stopWords: toSet((stopWordLists[code] ?? []).join(' ')),
    questionWords: toSet(questionWords[code] ?? ''),
    stem,
    english: script === 'Latin' ? undefined : englishAnalysis(),
    known: new Map(),
  };
}

const notAscii = /[\u0080-\uffff]/;
const asciiWord = /^[A-Z]?[a-z]+$/;

function isPlain(token: string): boolean {
  return token.length > 1 && asciiWord.test(token);
}

/**
 * Begins the terms of words that have no subject, and of single digits and lowercase letters. They are searched by queries of nothing else,
 * and do not add to the length of a text.
 */
const functionMark = '~';

export function isFunctionTerm(term: string): boolean {
  return term.startsWith(functionMark);
}

/** Returns all terms of a text, in order. */
export function termsOf(text: string, analysis: Analysis): string[] {
  const terms: string[] = [];
  for (const token of toTokens(text)) {
    const found = knownTermsOf(token, analysis);
    if (typeof found === 'string') terms.push(found);
    else for (const term of found) terms.push(term);
  }
  return terms;
}

/** Returns the terms of a text without words that have no subject; all of them if there are no others. */
export function contentTermsOf(text: string, analysis: Analysis): string[] {
  const terms = termsOf(text, analysis);
  const content = terms.filter((term) => !isFunctionTerm(term));
  return content.length > 0 ? content : terms;
}

/** Returns the terms of a part of a token, the main one first. */
export function termsOfWord(part: TokenPart, analysis: Analysis): readonly string[] {
  const found = isPlain(part.text) ? knownTermsOf(part.text, analysis) : termsOfPart(part, analysis);
  return typeof found === 'string' ? [found] : found;
}

/** Whether questions often have a word, and texts rarely: its rarity means little. */
export function isQuestionWord({ text }: TokenPart, analysis: Analysis): boolean {
  const { language, questionWords, english: ofLatin } = analysis;
  const folded = fold(toLower(text, analysis), language);
  return questionWords.has(folded) || (ofLatin?.questionWords.has(folded) ?? false);
}

function knownTermsOf(token: string, analysis: Analysis): string | readonly string[] {
  return analysis.known.get(token) ?? remember(token, termsOfToken(token, analysis), analysis.known);
}

function remember(token: string, terms: readonly string[], cache: KnownTerms): string | readonly string[] {
  const found = terms.length === 1 ? (terms[0] as string) : terms;
  if (token.length > longestStemmed) return found;
  if (known >= mostKnown) {
    for (const each of caches) each.clear();
    caches.clear();
    known = 0;
  }
  known += 1;
  caches.add(cache);
  cache.set(copyOf(token), found);
  return found;
}

/** Returns a word for a map: engines keep the text that a word of more than 12 letters was cut from alive with the word. */
export function copyOf(word: string): string {
  return word.length > 12 ? ` ${word}`.slice(1) : word;
}

function termsOfToken(token: string, analysis: Analysis): readonly string[] {
  const terms: string[] = [];
  if (isPlain(token)) {
    const lower = toLower(token, analysis);
    const known = lower === token ? undefined : analysis.known.get(lower);
    if (known !== undefined) return typeof known === 'string' ? [known] : known;
    addSpaced(lower, analysis, terms);
    return terms;
  }
  return splitToken(token).flatMap((part) => termsOfPart(part, analysis));
}

/** “s” of “it's”, “1” of “1.2.3”, variables; not “C”. */
const letterOrDigit = /^[\p{Ll}\p{Nd}]$/u;

function termsOfPart({ text, isWord }: TokenPart, analysis: Analysis): string[] {
  const lower = toLower(text, analysis);
  if (letterOrDigit.test(text)) return [functionMark + foldWord(lower)];
  if (!isWord) return [foldWord(lower)];
  const terms: string[] = [];
  addWord(lower, analysis, terms);
  return terms;
}

function toLower(text: string, { language }: Analysis): string {
  return language.code === 'tr' ? text.toLocaleLowerCase('tr') : text.toLowerCase();
}

/** Scripts written without spaces between words, and Korean, whose words carry their grammar with them. */
const paired = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Tibetan}ー]+/gu;
/** Scripts without spaces, whose words are found with a dictionary. */
const segmented = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;
const isPaired = new RegExp(paired.source, 'u');
const isUnspaced = new RegExp(`${paired.source}|${segmented.source}`, 'u');

/** Whether a text has letters of scripts whose terms are pairs of characters. */
export function hasPaired(text: string): boolean {
  return isPaired.test(text);
}

/** Whether a word has letters of scripts without spaces between words: its terms are pairs of characters, or words of a dictionary. */
export function hasUnspaced(word: string): boolean {
  return notAscii.test(word) && isUnspaced.test(word);
}

function addWord(word: string, analysis: Analysis, terms: string[]): void {
  if (hasUnspaced(word)) addUnspaced(word, analysis, terms);
  else addSpaced(word, analysis, terms);
}

const grammarLength = 4;
const isLatin = /^\p{Script=Latin}/u;

function addSpaced(word: string, analysis: Analysis, terms: string[]): void {
  const { language, script, stopWords, stem, english: ofLatin } = analysis;
  const isAscii = !notAscii.test(word);
  if (ofLatin && (isAscii || isLatin.test(word))) return addSpaced(word, ofLatin, terms);
  const folded = isAscii ? word : fold(word, language);
  if (stopWords.has(folded)) return void terms.push(functionMark + folded);
  if (word.length > longestStemmed || !(isAscii || script.test(word))) return void terms.push(folded);
  let term = folded;
  if (stem) term = language.foldsFirst ? stem(folded) : foldWord(stem(toStemmable(word, language)));
  terms.push(term);
  if (language.hasCompounds || !stem) addAffixes(term, language, terms);
}

/** Vietnamese keeps its tones. */
function fold(word: string, { code }: Language): string {
  return code === 'vi' ? word : foldWord(word);
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
    segmenter ??= new Intl.Segmenter('th', { granularity: 'word' });
    // The time that a part takes grows with the square of its length.
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

function addPairs(word: string, terms: string[]): void {
  const characters = [...word];
  for (let at = 0; at < characters.length; at += 1) {
    terms.push(characters[at] as string);
    if (at + 1 < characters.length) terms.push(`${characters[at]}${characters[at + 1]}`);
  }
}
