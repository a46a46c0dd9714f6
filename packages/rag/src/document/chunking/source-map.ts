import { lastAtOrBefore } from './text-boundary.js';

/**
 * Positions of the characters of a decoded text in its source. The text is a sequence of runs: characters that are the same in
 * both, or characters that were decoded from something else as a whole.
 */
export class SourceMap {
  readonly #decoded: number[] = [];
  readonly #lengths: number[] = [];
  readonly #sourceStart: number[] = [];
  readonly #sourceEnd: number[] = [];

  /** Adds the run of `length` characters that follows the one before. */
  add(decoded: number, length: number, sourceStart: number, sourceEnd: number): void {
    this.#decoded.push(decoded);
    this.#lengths.push(length);
    this.#sourceStart.push(sourceStart);
    this.#sourceEnd.push(sourceEnd);
  }

  /** Returns the part of the source of a part of the decoded text, which must not be empty. */
  toSource(start: number, end: number): { start: number; end: number } {
    return { start: this.#at(start).start, end: this.#at(end - 1).end };
  }

  /** Returns the position of one character. */
  #at(position: number): { start: number; end: number } {
    const run = lastAtOrBefore(this.#decoded, position);
    const from = this.#decoded[run] ?? 0;
    const sourceStart = this.#sourceStart[run] ?? 0;
    const sourceEnd = this.#sourceEnd[run] ?? 0;
    if (this.#lengths[run] !== sourceEnd - sourceStart) return { start: sourceStart, end: sourceEnd };
    const start = sourceStart + position - from;
    return { start, end: start + 1 };
  }
}
