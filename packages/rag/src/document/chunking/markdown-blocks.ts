import {
  closesFence,
  isThematicBreak,
  matchAtxHeading,
  matchFence,
  matchHtmlBlock,
  matchListMarker,
  matchSetextUnderline,
  type Fence,
  type HtmlEnd,
} from './markdown-block-starts.js';
import type { Block, Heading } from './sections.js';

/**
 * Reads the blocks of a Markdown text in order, line by line, in linear time. Titles of headings are verbatim, without the marks.
 * Headings inside quotations and lists do not count as headings.
 *
 * Link reference definitions count as paragraphs. YAML front matter is one block without headings.
 *
 * @param marks - marks of additional headings, such as `!!!`, below the six levels of Markdown, outermost first
 *
 * @see [CommonMark 0.31, phase 1: block structure](https://spec.commonmark.org/0.31.2/#phase-1-block-structure)
 */
export function readMarkdownBlocks(text: string, marks: readonly string[] = []): Block[] {
  const reader = new BlockReader(text, marks);
  let start = frontMatterEnd(text);
  if (start > 0) reader.blocks.push({ start: 0 });
  while (start < text.length) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline + 1;
    reader.readLine(new LineCursor(text, start, end));
    start = end;
  }
  return reader.blocks;
}

const frontMatter = /---[ \t]*\r?\n(?:[^\n]*\n){0,500}?---[ \t]*(?:\r?\n|$)/y;

function frontMatterEnd(text: string): number {
  frontMatter.lastIndex = 0;
  return frontMatter.test(text) ? frontMatter.lastIndex : 0;
}

/** A quotation, or a list item, whose content is indented by `indent` columns. */
type Container = { kind: 'quote' } | { kind: 'item'; indent: number; empty: boolean };

/** The innermost open block. */
type Leaf = { kind: 'none' | 'code' | 'paragraph' } | { kind: 'fence'; fence: Fence } | { kind: 'html'; end: HtmlEnd };

const none: Leaf = { kind: 'none' };

/** Level of the first additional mark. */
export const firstMarkedLevel = 7;

/** Deeper containers are read as text, so that the time stays linear. */
const maxDepth = 24;

class BlockReader {
  readonly blocks: Block[] = [];
  readonly #text: string;
  readonly #marks: readonly string[];
  readonly #containers: Container[] = [];
  #leaf: Leaf = none;

  constructor(text: string, marks: readonly string[]) {
    this.#text = text;
    this.#marks = marks;
  }

  readLine(line: LineCursor): void {
    const depth = this.#matchContainers(line);
    const inside = depth === this.#containers.length;
    if (inside && this.#continueLeaf(line)) return;
    const state: LineState = { line, depth, inside, inParagraph: this.#leaf.kind === 'paragraph' };
    while (!line.blank) {
      if (line.indent >= 4) {
        if (!state.inParagraph) this.#begin(state, { kind: 'code' });
        return;
      }
      if (this.#startMarkedHeading(state)) return;
      if (!mayStartBlock(this.#text.charCodeAt(line.at))) break;
      if (this.#startQuote(state)) continue;
      if (this.#startLeaf(state)) return;
      if (!this.#startItem(state)) break;
    }
    if (line.blank) {
      this.#containers.length = state.depth;
      this.#leaf = none;
    } else if (!state.inParagraph) this.#begin(state, { kind: 'paragraph' });
  }

  /** Returns the number of open containers that continue in this line. */
  #matchContainers(line: LineCursor): number {
    let depth = 0;
    for (const container of this.#containers) {
      if (container.kind === 'quote') {
        if (line.blank || line.indent >= 4 || this.#text[line.at] !== '>') return depth;
        line.skip(1);
        line.take(1);
      } else if (line.blank) {
        if (container.empty) return depth;
      } else {
        if (line.indent < container.indent) return depth;
        line.take(container.indent);
      }
      depth++;
    }
    return depth;
  }

  /** Gives the line to an open fence, HTML block or indented code; returns whether it was accepted. */
  #continueLeaf(line: LineCursor): boolean {
    const leaf = this.#leaf;
    switch (leaf.kind) {
      case 'fence':
        if (line.indent < 4 && closesFence(this.#text, line.at, line.end, leaf.fence)) this.#leaf = none;
        return true;
      case 'html':
        if (leaf.end === 'blank line' ? line.blank : leaf.end.test(this.#text.slice(line.at, line.end)))
          this.#leaf = none;
        return true;
      case 'code':
        if (line.blank || line.indent >= 4) return true;
        this.#leaf = none;
        return false;
      default:
        return false;
    }
  }

  #startMarkedHeading(state: LineState): boolean {
    const { at, end } = state.line;
    for (const [index, mark] of this.#marks.entries()) {
      const titleStart = at + mark.length;
      if (!this.#text.startsWith(mark, at) || (titleStart < end && !/\s/.test(this.#text.charAt(titleStart)))) continue;
      const title = this.#text.slice(titleStart, end).trim();
      return this.#begin(state, none, { level: firstMarkedLevel + index, title, end });
    }
    return false;
  }

  #startQuote(state: LineState): boolean {
    const { line, depth } = state;
    if (this.#text[line.at] !== '>' || depth >= maxDepth) return false;
    line.skip(1);
    line.take(1);
    this.#open(state, { kind: 'quote' });
    return true;
  }

  #startItem(state: LineState): boolean {
    const { line, depth, inside, inParagraph } = state;
    const marker = depth < maxDepth ? matchListMarker(this.#text, line.at) : undefined;
    if (!marker) return false;
    const isEmpty = this.#text.slice(line.at + marker.width, line.end).trim() === '';
    if (inParagraph && inside && (isEmpty || !marker.mayInterrupt)) return false;
    const outer = line.indent;
    line.skip(marker.width);
    const padding = isEmpty || line.indent > 4 ? 1 : line.indent;
    line.take(padding);
    this.#open(state, { kind: 'item', indent: outer + marker.width + padding, empty: isEmpty });
    return true;
  }

  /** Returns whether the line begins, or underlines, a block other than a paragraph. */
  #startLeaf(state: LineState): boolean {
    const text = this.#text;
    const { line, inside, inParagraph } = state;
    const { at, end } = line;
    const atx = matchAtxHeading(text, at);
    if (atx) return this.#begin(state, none, { ...atx, end });
    const fence = matchFence(text, at);
    if (fence) return this.#begin(state, { kind: 'fence', fence });
    const htmlEnd = matchHtmlBlock(text, at, inParagraph);
    if (htmlEnd) {
      const endsHere = htmlEnd !== 'blank line' && htmlEnd.test(text.slice(at, end));
      return this.#begin(state, endsHere ? none : { kind: 'html', end: htmlEnd });
    }
    const level = inParagraph && inside ? matchSetextUnderline(text, at) : undefined;
    if (level) return this.#underline(level, line);
    return isThematicBreak(text, at) && this.#begin(state, none);
  }

  #open(state: LineState, container: Container): void {
    this.#begin(state, none);
    this.#containers.push(container);
    state.depth++;
    state.inParagraph = false;
  }

  #begin({ line, depth }: LineState, leaf: Leaf, heading?: Heading): true {
    this.#containers.length = depth;
    const innermost = this.#containers.at(-1);
    if (innermost?.kind === 'item') innermost.empty = false;
    if (depth === 0) this.blocks.push(heading ? { start: line.start, heading } : { start: line.start });
    // The line may begin several blocks. The outermost one counts.
    else if (this.blocks.at(-1)?.start !== line.start) this.blocks.push({ start: line.start, depth });
    this.#leaf = leaf;
    return true;
  }

  /** The open paragraph turns out to be a heading. */
  #underline(level: 1 | 2, { start, end }: LineCursor): true {
    const paragraph = this.blocks.at(-1);
    if (this.#containers.length === 0 && paragraph) {
      const title = this.#text.slice(paragraph.start, start).replace(/\s+/g, ' ').trim();
      this.blocks[this.blocks.length - 1] = { start: paragraph.start, heading: { level, title, end } };
    }
    this.#leaf = none;
    return true;
  }
}

interface LineState {
  readonly line: LineCursor;
  /** Containers that hold the line, those included that it opens. */
  depth: number;
  /** The line continues every container that was open. */
  readonly inside: boolean;
  /** A paragraph is open that the line may continue, even if it lacks the marks of its containers. */
  inParagraph: boolean;
}

/** Punctuation and digits; a letter never starts anything but a paragraph. */
function mayStartBlock(unit: number): boolean {
  return unit < 0x80 && !(unit >= 0x41 && unit <= 0x5a) && !(unit >= 0x61 && unit <= 0x7a);
}

const tabStop = 4;

/**
 * A position in one line: behind the container marks that were read, at the first character that is not white space. A tab extends
 * to the next multiple of four columns.
 *
 * @see [CommonMark 0.31, Tabs](https://spec.commonmark.org/0.31.2/#tabs)
 */
class LineCursor {
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
