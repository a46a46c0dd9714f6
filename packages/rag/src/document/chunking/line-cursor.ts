const tabStop = 4;

/**
 * A place in one line, between container marks that were read and the first character that is not white space. Columns count
 * tabs up to the next multiple of four.
 *
 * @see [CommonMark 0.31, Tabs](https://spec.commonmark.org/0.31.2/#tabs)
 */
export class LineCursor {
  readonly text: string;
  readonly start: number;
  /** After the line break. */
  readonly end: number;
  /** The first character that is not white space; `end` in a blank line. */
  at: number;
  #column = 0;
  #taken = 0;

  constructor(text: string, start: number, end: number) {
    this.text = text;
    this.start = start;
    this.end = end;
    this.at = start;
    this.#skipWhiteSpace();
  }

  /** Columns of white space that no container has taken. */
  get indent(): number {
    return this.#column - this.#taken;
  }

  get blank(): boolean {
    return this.at >= this.end;
  }

  /** Passes a mark of `width` characters and the white space after it. */
  skip(width: number): void {
    this.at += width;
    this.#column += width;
    this.#taken = this.#column;
    this.#skipWhiteSpace();
  }

  /** Gives white space to a container. */
  take(columns: number): void {
    this.#taken += Math.min(columns, this.indent);
  }

  #skipWhiteSpace(): void {
    for (; this.at < this.end; this.at++) {
      const unit = this.text.charCodeAt(this.at);
      if (unit === 0x20) this.#column++;
      else if (unit === 0x09) this.#column += tabStop - (this.#column % tabStop);
      else if (unit !== 0x0a && unit !== 0x0d) return;
    }
  }
}
