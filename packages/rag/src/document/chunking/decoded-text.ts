import { lastAtOrBefore } from './text-boundary.js';

/** A text that is decoded piece by piece, with the positions of its characters in the source. */
export class DecodedText {
  readonly #source: string;
  #text = '';
  #length = 0;
  /** Part of the source that is copied next. It grows as long as copies follow each other. */
  #copyStart = 0;
  #copyEnd = -1;
  /** Runs of characters that are the same in both texts, or that were decoded from something else as a whole. */
  readonly #starts: number[] = [];
  readonly #sourceStarts: number[] = [];
  /** End of what was decoded as a whole; -1 for the same characters. */
  readonly #sourceEnds: number[] = [];

  constructor(source: string) {
    this.#source = source;
  }

  get length(): number {
    return this.#length;
  }

  copy(start: number, end: number): void {
    if (start !== this.#copyEnd) {
      this.#endCopy();
      this.#addRun(start, -1);
      this.#copyStart = start;
    }
    this.#copyEnd = end;
    this.#length += end - start;
  }

  append(piece: string, sourceStart: number, sourceEnd: number): void {
    this.#endCopy();
    this.#addRun(sourceStart, piece.length === sourceEnd - sourceStart ? -1 : sourceEnd);
    this.#text += piece;
    this.#length += piece.length;
  }

  toString(): string {
    this.#endCopy();
    return this.#text;
  }

  #endCopy(): void {
    if (this.#copyEnd === -1) return;
    this.#text += this.#source.slice(this.#copyStart, this.#copyEnd);
    this.#copyEnd = -1;
  }

  #addRun(sourceStart: number, sourceEnd: number): void {
    this.#starts.push(this.#length);
    this.#sourceStarts.push(sourceStart);
    this.#sourceEnds.push(sourceEnd);
  }

  /** Returns the part of the source of a part of the decoded text, which must not be empty. */
  toSource(start: number, end: number): { start: number; end: number } {
    return { start: this.#at(start).start, end: this.#at(end - 1).end };
  }

  #at(position: number): { start: number; end: number } {
    const run = lastAtOrBefore(this.#starts, position);
    const sourceStart = this.#sourceStarts[run]!;
    const sourceEnd = this.#sourceEnds[run]!;
    if (sourceEnd !== -1) return { start: sourceStart, end: sourceEnd };
    const start = sourceStart + position - this.#starts[run]!;
    return { start, end: start + 1 };
  }
}
