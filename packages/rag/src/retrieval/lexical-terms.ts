import { stemmer } from 'stemmer';
import { stopWords } from './stop-words.js';

/**
 * The terms of a text: stemmed words without stop words, and characters and pairs of them where words are not written apart.
 *
 * Upper and lower case, Latin accents and compatibility forms make no difference. Stemming and stop words are English: "files" is
 * "file", "decided" is "decide". Words of other scripts stay unchanged.
 *
 * @see [Porter, An algorithm for suffix stripping](https://tartarus.org/martin/PorterStemmer/)
 */
export function lexicalTerms(text: string): string[] {
  const lower = text.toLowerCase();
  const terms: string[] = [];
  if (!notAscii.test(lower)) {
    for (const word of lower.match(/[a-z0-9]+/g) ?? []) addWord(word, terms);
    return terms;
  }
  // NFKC again at the end, so that Hangul syllables, which NFKD takes apart, are whole.
  const folded = lower
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFKC');
  for (const word of folded.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []) {
    if (notAscii.test(word)) addTerms(word, terms);
    else addWord(word, terms);
  }
  return terms;
}

const notAscii = /[^ -~\s]/;

/** Terms of short words, because texts repeat them; `''` for a word without a term. At most 50,000; cleared when full. */
const knownTerms = new Map<string, string>();
const mostKnown = 50_000;
/** Engines keep the text that a longer word was cut from alive with the word. */
const longestKnown = 12;

function addWord(word: string, terms: string[]): void {
  let term = knownTerms.get(word);
  if (term === undefined) {
    term = word.length > 1 && !stopWords.has(word) ? stemmer(word) : '';
    if (knownTerms.size >= mostKnown) knownTerms.clear();
    if (word.length <= longestKnown) knownTerms.set(word, term);
  }
  if (term !== '') terms.push(term);
}

/** Scripts written without spaces between words, and Korean, whose words carry their grammar with them. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}ー]+/gu;

function addTerms(word: string, terms: string[]): void {
  for (const part of word.split(unspaced)) if (part !== '') terms.push(part);
  for (const [run] of word.matchAll(unspaced)) addPairs(run, terms);
}

/** Adds the characters of a word and the pairs of neighbors. */
export function addPairs(word: string, terms: string[]): void {
  const characters = [...word];
  for (let at = 0; at < characters.length; at++) {
    terms.push(characters[at] as string);
    if (at + 1 < characters.length) terms.push(`${characters[at]}${characters[at + 1]}`);
  }
}
