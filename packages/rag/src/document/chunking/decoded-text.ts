import { lastAtOrBefore } from './text-boundary.js';

/** A text that is decoded piece by piece, with the positions of its characters in the source. */
export class DecodedText {
  readonly #source: string;
  #text = '';
  /** Runs of characters that are the same in both texts, or that were decoded from something else as a whole. */
  readonly #starts: number[] = [];
  readonly #sourceStarts: number[] = [];
  readonly #sourceEnds: number[] = [];
  #length = 0;

  constructor(source: string) {
    this.#source = source;
  }

  get length(): number {
    return this.#length;
  }

  /** Appends a part of the source. */
  copy(start: number, end: number): void {
    this.append(this.#source.slice(start, end), start, end);
  }

  /** Appends a piece that was decoded from a part of the source. */
  append(piece: string, sourceStart: number, sourceEnd: number): void {
    this.#text += piece;
    this.#addRun(piece.length, sourceStart, sourceEnd);
  }

  toString(): string {
    return this.#text;
  }

  #addRun(length: number, sourceStart: number, sourceEnd: number): void {
    const last = this.#starts.length - 1;
    const isSame = length === sourceEnd - sourceStart;
    if (isSame && last >= 0 && this.#sourceEnds[last] === sourceStart && this.#isSame(last)) {
      this.#sourceEnds[last] = sourceEnd;
    } else {
      this.#starts.push(this.#length);
      this.#sourceStarts.push(sourceStart);
      this.#sourceEnds.push(sourceEnd);
    }
    this.#length += length;
  }

  /** Returns the part of the source of a part of the decoded text, which must not be empty. */
  toSource(start: number, end: number): { start: number; end: number } {
    return { start: this.#at(start).start, end: this.#at(end - 1).end };
  }

  /** Returns the position of one character. */
  #at(position: number): { start: number; end: number } {
    const run = lastAtOrBefore(this.#starts, position);
    const sourceStart = this.#sourceStarts[run]!;
    if (!this.#isSame(run)) return { start: sourceStart, end: this.#sourceEnds[run]! };
    const start = sourceStart + position - this.#starts[run]!;
    return { start, end: start + 1 };
  }

  #isSame(run: number): boolean {
    const length = (this.#starts[run + 1] ?? this.#length) - this.#starts[run]!;
    return length === this.#sourceEnds[run]! - this.#sourceStarts[run]!;
  }
}
