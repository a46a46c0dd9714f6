import { english, findLanguage, languages, type Language, type Script } from './languages.js';
import { stopWordLists } from './stop-word-lists.js';

/** The language that a text is most likely written in. */
export interface DetectedLanguage {
  readonly language: Language;
  /** Whether the evidence is clear; short texts and names often leave it open. */
  readonly isCertain: boolean;
  /** All languages that the evidence leaves open, the most likely first; one if it is clear. */
  readonly likely: readonly Language[];
}

/** Only the beginning of a text is examined. */
const examinedLength = 1500;
const examinedWords = 60;
/** Weight of a word in the longer lists, in relation to a frequent word. */
const otherWordWeight = 0.3;
/** Weight of a word with letters that some languages have. */
const letterWeight = 0.7;
/** A language loses so much by a word with letters that it does not have. */
const foreignLetters = 0.3;
/** For capitalized words, which may be foreign names. */
const capitalizedShare = 0.3;
/** More than one word. */
const certainLead = 1.2;
/** In texts with more words, the lead must be this share of their number: one word of a language in a table is a coincidence. */
const certainShare = 0.1;
/** With this evidence, a text is English if no other language is certain: English texts contain many foreign names. */
const englishEvidence = 0.6;
/** A likely language has this evidence, and this share of that of the first. */
const leastEvidence = 0.2;
const likelyShare = 0.6;
const mostLikely = 3;
/** With this lead, the remaining words are not examined. */
const decisiveLead = 3;

/** Evidence of a word or letter for languages, by their number. */
type Evidence = readonly (readonly [language: number, weight: number])[];

const wordEvidence = new Map<string, Evidence>();
const letterOwners = new Map<string, readonly number[]>();

function prepare(): void {
  if (wordEvidence.size > 0) return;
  const frequent = new Map<string, number[]>();
  const others = new Map<string, number[]>();
  for (const [number, { code, letters }] of languages.entries()) {
    const [first = '', rest = ''] = stopWordLists[code] ?? [];
    for (const word of first.split(' ')) addTo(frequent, word, number);
    for (const word of rest.split(' ')) addTo(others, word, number);
    for (const letter of letters) addTo(letterOwners as Map<string, number[]>, letter, number);
  }
  const toEvidence = (owners: readonly number[], weight: number): Evidence => owners.map((number) => [number, weight]);
  for (const [word, owners] of others) wordEvidence.set(word, toEvidence(owners, otherWordWeight / owners.length));
  for (const [word, owners] of frequent) wordEvidence.set(word, toEvidence(owners, 1 / Math.sqrt(owners.length)));
}

function addTo(lists: Map<string, number[]>, key: string, number: number): void {
  const list = lists.get(key);
  if (list) list.push(number);
  else lists.set(key, [number]);
}

/**
 * Detects the language of a text by its script, its frequent words and its letters.
 *
 * @param among - languages to choose from; default all
 * @returns English, uncertain, for a text without evidence
 */
export function detectLanguage(text: string, among: readonly Language[] = languages): DetectedLanguage {
  if (among === languages && hasManyEnglishWords(text)) return toCertain(english);
  prepare();
  const start = text.length > examinedLength ? text.slice(0, examinedLength) : text;
  const script = scriptOf(start, among);
  const numbers = among === languages ? (numbersOf.get(script) as number[]) : toNumbers(among, script);
  const [only] = numbers;
  if (only === undefined) return { language: english, isCertain: false, likely: [english] };
  if (numbers.length === 1) return toCertain(languages[only] as Language);
  // Engines allocate a typed array outside of the heap, which takes longer than the detection in a query.
  const scores = languages.map(() => 0);
  const seen = new Set<string>();
  let largest = 0;
  const pattern = script === 'Latin' ? latinWords : words;
  pattern.lastIndex = 0;
  // Few texts are read to their end.
  for (let found = pattern.exec(start); found; found = pattern.exec(start)) {
    const [word] = found;
    const lower = word.toLowerCase();
    if (seen.has(lower)) continue;
    seen.add(lower);
    const evidence = wordEvidence.get(lower);
    for (const [number, weight] of evidence && !isAbbreviation(found) ? evidence : []) {
      const score = (scores[number] as number) + weight;
      scores[number] = score;
      if (score > largest) largest = score;
    }
    addLetters(word, lower, scores, numbers);
    if (seen.size > examinedWords || (largest >= decisiveLead && leaderOf(scores, numbers).lead >= decisiveLead)) break;
  }
  const { first, lead } = leaderOf(scores, numbers);
  const isCertain = lead >= Math.max(certainLead, seen.size * certainShare);
  if (isCertain) return toCertain(languages[first] as Language);
  const isEnglish = numbers[0] === 0 && (scores[0] as number) >= englishEvidence;
  const least = Math.max(leastEvidence, (scores[first] as number) * likelyShare);
  const likely = numbers
    .filter((number) => (scores[number] as number) >= least)
    .toSorted((a, b) => (scores[b] as number) - (scores[a] as number))
    .slice(0, mostLikely)
    .map((number) => languages[number] as Language);
  const language = isEnglish ? english : (languages[first] as Language);
  return { language, isCertain, likely: isEnglish ? [english] : [...new Set([language, ...likely])] };
}

function toCertain(language: Language): DetectedLanguage {
  return { language, isCertain: true, likely: [language] };
}

const numbersOf: ReadonlyMap<Script, readonly number[]> = new Map(
  languages.map(({ script }) => [script, toNumbers(languages, script)]),
);

function toNumbers(among: readonly Language[], script: Script): number[] {
  return among.filter((each) => each.script === script).map((each) => languages.indexOf(each));
}

/** Words that no other language has. */
const englishWords = /\b(?:the|and|with|by|which|from|this)\b/gi;
/** More than a text of another language has in quotations and titles. */
const decisiveWords = 6;

/** Whether a text is certainly English: a short cut, because most texts are. */
function hasManyEnglishWords(text: string): boolean {
  return (text.slice(0, 600).match(englishWords)?.length ?? 0) >= decisiveWords;
}

const words = /[\p{L}\p{M}]+/gu;
/** Several times as fast. */
const latinWords = /(?:[a-z\u00c0-\u024f\u1e00-\u1eff]|[\u0300-\u036f])+/gi;

function addLetters(word: string, lower: string, scores: number[], numbers: readonly number[]): void {
  if (!/[^a-z]/.test(lower)) return;
  let possible: readonly number[] | undefined;
  for (const letter of lower.normalize('NFC')) {
    const owners = letterOwners.get(letter);
    if (owners) possible = possible ? possible.filter((number) => owners.includes(number)) : owners;
  }
  if (!possible?.length) return;
  const share = word[0] === lower[0] ? 1 : capitalizedShare;
  const weight = (share * letterWeight) / Math.sqrt(possible.length);
  for (const number of numbers)
    (scores[number] as number) += possible.includes(number) ? weight : -share * foreignLetters;
}

/** Whether a word is a letter in a formula, a version or an option, or in capitals, such as the code of a country. Neither is evidence. */
function isAbbreviation({ 0: word, index, input }: RegExpExecArray): boolean {
  if (word.length > 3) return false;
  if (word.length > 1) return word === word.toUpperCase() && word !== word.toLowerCase();
  const isApart = (at: number): boolean => at < 0 || at >= input.length || input[at] === ' ';
  return !(isApart(index - 1) && isApart(index + 1));
}

function leaderOf(scores: readonly number[], numbers: readonly number[]): { first: number; lead: number } {
  let first = -1;
  let [largest, second] = [-Infinity, -Infinity];
  for (const number of numbers) {
    const score = scores[number] as number;
    if (score > largest) {
      second = largest;
      largest = score;
      first = number;
    } else if (score > second) second = score;
  }
  return { first, lead: largest - second };
}

/**
 * Text with so many letters of another script for each Latin letter is of that script: pages about software are half code, and words of the
 * Latin script are English in every language of another.
 */
const foreignShare = 1 / 4;

function scriptOf(text: string, among: readonly Language[]): Script {
  if (!/[\u0370-\uffff]/.test(text)) return 'Latin';
  const latin = countLetters(text, /[a-z]+/gi);
  // Emoji, ligatures and Latin letters with two accents count as well: with a few of them, one Chinese character does not make a text Chinese.
  const others = countLetters(text, /[\u0370-\u1fff\u3040-\uffff]+/g);
  if (others < latin * foreignShare) return 'Latin';
  let most: { script: Script; count: number } = { script: 'Latin', count: 0 };
  let known = 0;
  for (const script of new Set(among.map((each) => each.script))) {
    const count = script === 'Latin' ? 0 : countLetters(text, scriptPatterns.get(script) as RegExp);
    // Most texts have one script, which is often among the first.
    if (count > others / 2 && count >= latin * foreignShare) return script;
    known += count;
    if (count > most.count) most = { script, count };
  }
  return known < latin * foreignShare ? 'Latin' : most.script;
}

/** Runs of letters: one match for each letter takes twice as long. */
const scriptPatterns: ReadonlyMap<Script, RegExp> = new Map(
  languages.map(({ script }) => [script, new RegExp(`\\p{Script=${script}}+`, 'gu')]),
);

/** @param runs - letters to count */
function countLetters(text: string, runs: RegExp): number {
  return text.match(runs)?.join('').length ?? 0;
}

/** Whether a text contains letters of a script. */
export function hasScript(text: string, script: Script): boolean {
  return text.search(scriptPatterns.get(script) as RegExp) !== -1;
}

/** Languages that the terms of a text are of. */
export interface TextLanguages {
  /** Absent where the text leaves its language open. */
  readonly shown: Language | undefined;
  readonly likely: readonly Language[];
}

/** @param named - language that the metadata of the text names, if any */
export function languagesOfText(text: string, named?: unknown): TextLanguages {
  const known = findLanguage(named);
  if (known) return { shown: known, likely: [known] };
  const { language, isCertain, likely } = detectLanguage(text);
  // Only for the Latin script, many texts show nothing, and most of them are English.
  return isCertain || language.script !== 'Latin'
    ? { shown: language, likely: [language] }
    : { shown: undefined, likely };
}
