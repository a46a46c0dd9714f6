const tableSize = 4096;

/** The different sequences of three letters in some words, numbered from 0. The boundaries of words count as letters. */
export class TrigramSet {
  /** Letters of each trigram, in turn. */
  readonly #letters: number[] = [];
  /** By hash: number of a trigram plus 1; 0 for none. */
  readonly #first = new Uint16Array(tableSize);
  /** Another trigram of the same hash, plus 1. */
  readonly #next: number[] = [];

  constructor(words: readonly string[]) {
    for (const word of words) this.#add(foldText(word));
  }

  get size(): number {
    return this.#next.length;
  }

  #add(word: string): void {
    let [before, last] = [0, 0];
    for (let at = 0; at <= word.length; at += 1) {
      const letter = at < word.length ? letterOf(word.charCodeAt(at)) : 0;
      const hash = hashOf(before, last, letter);
      if (last !== 0 && this.#numberOf(hash, before, last, letter) === -1) {
        this.#next.push(this.#first[hash] as number);
        this.#letters.push(before, last, letter);
        this.#first[hash] = this.#next.length;
      }
      before = last;
      last = letter;
    }
  }

  /**
   * Returns the trigrams of each line or sentence of a text that contains any, each once.
   *
   * @param without - numbers to leave out
   */
  linesIn(text: string, without?: ReadonlySet<number>): number[][] {
    const folded = foldText(text);
    const first = this.#first;
    const lines: number[][] = [];
    /** Line that contained a trigram last. */
    const lastLine = new Int32Array(this.size).fill(-1);
    let line: number[] = [];
    let [before, last, hash, unitBefore, count] = [0, 0, 0, 0, 0];
    for (let at = 0; at <= folded.length; at += 1) {
      const unit = at < folded.length ? folded.charCodeAt(at) : newLine;
      const letter = unit < 128 ? (asciiLetters[unit] as number) : letterOf(unit);
      hash = ((hash << 4) ^ letter) & (tableSize - 1);
      if (first[hash] !== 0 && last !== 0) {
        const number = this.#numberOf(hash, before, last, letter);
        if (number !== -1 && lastLine[number] !== count && !without?.has(number)) {
          lastLine[number] = count;
          line.push(number);
        }
      }
      if (letter === 0 && line.length > 0 && (unit === newLine || (unit === space && endsSentence(unitBefore)))) {
        lines.push(line);
        line = [];
        count += 1;
      }
      before = last;
      last = letter;
      unitBefore = unit;
    }
    return lines;
  }

  /** Returns −1 for a trigram that is not in the set. */
  #numberOf(hash: number, a: number, b: number, c: number): number {
    const letters = this.#letters;
    let number = (this.#first[hash] as number) - 1;
    while (
      number !== -1 &&
      !(letters[number * 3] === a && letters[number * 3 + 1] === b && letters[number * 3 + 2] === c)
    )
      number = (this.#next[number] as number) - 1;
    return number;
  }
}

/** Can be updated letter by letter: the fourth last one is shifted out. */
const hashOf = (a: number, b: number, c: number): number => ((a << 8) ^ (b << 4) ^ c) & (tableSize - 1);

/** Combining marks, ligatures and letters of full width. */
const compatibilityForms = /[\u0300-\u036f\ufb00-\uffef]/;

function foldText(text: string): string {
  const lower = text.toLowerCase();
  return compatibilityForms.test(lower) ? lower.normalize('NFKC') : lower;
}

const newLine = 10;
const space = 32;

/** Whether a character is a full stop, an exclamation mark or a question mark. */
const endsSentence = (unit: number): boolean => unit === 46 || unit === 33 || unit === 63;

/** Returns 0 for a character that separates words. */
function letterOf(unit: number): number {
  if (unit < 128) return asciiLetters[unit] as number;
  const isMark = unit < 0xc0 || (unit >= 0x2000 && unit < 0x2070) || (unit >= 0x3000 && unit < 0x3040);
  return isMark ? 0 : unit;
}

const asciiLetters = Uint8Array.from({ length: 128 }, (_, unit) =>
  /[a-z0-9]/.test(String.fromCharCode(unit)) ? unit : 0,
);
