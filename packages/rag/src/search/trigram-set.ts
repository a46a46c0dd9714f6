import { hasPaired, hasUnspaced } from '../words/analysis.js';
import { foldWord, normalizeText } from '../words/fold-word.js';

/** The different sequences of three letters in some words, numbered from 0. The boundaries of words count as letters. */
export class TrigramSet {
  readonly #numbers = new Map<number, number>();
  /** By hash: 1 if a trigram has it. Most sequences of a text need no look at the map. */
  readonly #hashes = new Uint8Array(hashCount);

  get size(): number {
    return this.#numbers.size;
  }

  /** Adds a word. @returns the numbers of its trigrams, each once */
  add(word: string): number[] {
    const numbers = new Set<number>();
    // Some scripts have no spaces between words.
    const isOpen = hasUnspaced(word);
    let key = separator;
    for (let at = 0; at <= word.length; at += 1) {
      const letter = at < word.length ? letterOf(word.charCodeAt(at)) : separator;
      if (letter === ignored) continue;
      const before = key;
      key = nextKey(before, letter);
      const isBoundary = letter === separator || key >> (2 * letterBits) === separator;
      if (isInWord(before) && !(isOpen && isBoundary)) numbers.add(this.#number(key));
    }
    return [...numbers];
  }

  #number(key: number): number {
    const number = this.#numbers.get(key) ?? this.size;
    this.#numbers.set(key, number);
    this.#hashes[hashOf(key)] = 1;
    return number;
  }

  /**
   * Returns the trigrams of each line or sentence of a text that contains any, each once.
   *
   * @param without - numbers to leave out
   */
  linesIn(text: string, without?: ReadonlySet<number>): number[][] {
    const [numbers, hashes] = [this.#numbers, this.#hashes];
    const lines: number[][] = [];
    /** Line that contained a trigram last. */
    const lastLine = new Int32Array(this.size).fill(-1);
    let line: number[] = [];
    let key = separator;
    for (let at = 0; at <= text.length; at += 1) {
      const unit = at < text.length ? text.charCodeAt(at) : newLine;
      const letter = letters[unit] || letterOf(unit);
      if (letter === ignored) continue;
      const before = key;
      key = nextKey(before, letter);
      if (hashes[hashOf(key)] === 1 && isInWord(before)) {
        const number = numbers.get(key);
        if (number !== undefined && lastLine[number] !== lines.length && !without?.has(number)) {
          lastLine[number] = lines.length;
          line.push(number);
        }
      }
      if (
        letter === separator &&
        line.length > 0 &&
        (unit === newLine || (unit === space && endsSentence(text.charCodeAt(at - 1))))
      ) {
        lines.push(line);
        line = [];
      }
    }
    return lines;
  }
}

/** Three letters of ten bits each. */
const letterBits = 10;
const letterMask = (1 << letterBits) - 1;
const keyMask = (1 << (3 * letterBits)) - 1;
const hashCount = 4096;

const hashOf = (key: number): number => (key ^ (key >> 6) ^ (key >> 12)) & (hashCount - 1);
const isInWord = (key: number): boolean => (key & letterMask) !== separator;

/** Words of scripts without spaces are short: two letters are enough, and the one before them is of another word. */
const nextKey = (key: number, letter: number): number =>
  letter >= firstPaired ? ((key & letterMask) << letterBits) | letter : ((key << letterBits) | letter) & keyMask;

const newLine = 10;
const space = 32;

/** Whether a character is a full stop, an exclamation mark or a question mark. */
const endsSentence = (unit: number): boolean => unit === 46 || unit === 33 || unit === 63;

/** Letters: 1 for a character that separates words, and 2 for one that does not count. ASCII letters and digits have their own number. */
const separator = 1;
const ignored = 2;
const firstOther = 128;
const firstPaired = 512;

/** By UTF-16 unit: letter without its case and accent; 0 where it is not known yet. Never more than these. */
const letters = new Uint16Array(0x1_0000);

function letterOf(unit: number): number {
  return letters[unit] || (letters[unit] = toLetter(String.fromCharCode(unit)));
}

function toLetter(character: string): number {
  const folded = foldWord(normalizeText(character.toLowerCase()));
  if (folded === '' || /^[\u0300-\u036f]/.test(folded)) return ignored;
  if (!/^[\p{L}\p{M}\p{N}]/u.test(folded)) return separator;
  const unit = folded.charCodeAt(0);
  if (unit < firstOther) return unit;
  return hasPaired(folded)
    ? firstPaired + (unit % (letterMask - firstPaired))
    : firstOther + (unit % (firstPaired - firstOther));
}
