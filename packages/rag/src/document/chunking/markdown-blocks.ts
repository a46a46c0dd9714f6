import type { Block, BlockKind, Heading } from './sections.js';
import { endOfWhiteSpace } from './text-boundary.js';

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
  frontMatter.lastIndex = 0;
  let start = frontMatter.test(text) ? frontMatter.lastIndex : 0;
  if (start > 0) reader.blocks.push({ start: 0, heading: undefined, depth: 0, kind: undefined });
  while (start < text.length) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline + 1;
    reader.readLine(start, end);
    start = reader.skipFencedLines(end);
  }
  return reader.blocks;
}

const frontMatter = /---[ \t]*\r?\n(?:[^\n]*\n){0,500}?---[ \t]*(?:\r?\n|$)/y;

interface Container {
  /** Columns by which the content of a list item is indented; 0 for a quotation. */
  readonly indent: number;
  /** Whether a list item has no content so far. */
  empty: boolean;
}

type Leaf = 'none' | 'code' | 'paragraph' | 'fence' | 'html';

/** Level of the first additional mark. */
export const firstMarkedLevel = 7;

/** Deeper containers are read as text, so that the time stays linear. */
const maxDepth = 24;

/** Columns of indentation that make a line code. */
const codeIndent = 4;
const tabStop = 4;

/**
 * Reads line by line. The state of the line is in fields: a megabyte of `"\n#"` has half a million lines, and objects for each took
 * 2.4 times the CPU time.
 */
class BlockReader {
  readonly blocks: Block[] = [];
  readonly #text: string;
  readonly #marks: readonly string[];
  readonly #containers: Container[] = [];
  #leaf: Leaf = 'none';
  #fence = '';
  #htmlEnd = blankLine;

  #start = 0;
  #end = 0;
  /** The first character behind the container marks that is not white space; `#end` in a blank line. */
  #at = 0;
  /** A tab extends to the next multiple of four columns. */
  #column = 0;
  #taken = 0;
  /** Containers that hold the line, including those that it opens. */
  #depth = 0;
  /** Whether the line continues every container that was open. */
  #inside = false;
  /** Whether a paragraph is open that the line may continue, even if it lacks the marks of its containers. */
  #inParagraph = false;

  constructor(text: string, marks: readonly string[]) {
    this.#text = text;
    this.#marks = marks;
  }

  readLine(start: number, end: number): void {
    this.#start = start;
    this.#end = end;
    this.#at = start;
    this.#column = 0;
    this.#taken = 0;
    this.#skipWhiteSpace();
    this.#depth = this.#matchContainers();
    this.#inside = this.#depth === this.#containers.length;
    if (this.#inside && this.#continueLeaf()) return;
    this.#inParagraph = this.#leaf === 'paragraph';
    while (this.#at < this.#end) {
      if (this.#indent >= codeIndent) {
        if (!this.#inParagraph) this.#begin('code');
        return;
      }
      if (this.#marks.length > 0 && this.#startMarkedHeading()) return;
      const unit = this.#text.charCodeAt(this.#at);
      if (unit >= startsBlock.length || !startsBlock[unit]) break;
      if (this.#startQuote()) continue;
      if (this.#startLeaf()) return;
      if (!this.#startItem()) break;
    }
    if (this.#at >= this.#end) {
      this.#closeContainers();
      this.#leaf = 'none';
    } else if (!this.#inParagraph) this.#begin('paragraph');
  }

  /** Returns the start of the first line from `start` on that can end an open fence. In containers, any line can. */
  skipFencedLines(start: number): number {
    if (this.#leaf !== 'fence' || this.#containers.length > 0) return start;
    const mark = this.#text.indexOf(this.#fence, start);
    return mark === -1 ? this.#text.length : Math.max(start, this.#text.lastIndexOf('\n', mark) + 1);
  }

  /** Columns of white space that no container has taken. */
  get #indent(): number {
    return this.#column - this.#taken;
  }

  #skipWhiteSpace(): void {
    for (; this.#at < this.#end; this.#at++) {
      const unit = this.#text.charCodeAt(this.#at);
      if (unit === 0x20) this.#column++;
      else if (unit === 0x09) this.#column += tabStop - (this.#column % tabStop);
      else if (unit !== 0x0a && unit !== 0x0d) return;
    }
  }

  /** Passes a container mark of `width` characters and the white space after it. */
  #skipMark(width: number): void {
    this.#at += width;
    this.#column += width;
    this.#taken = this.#column;
    this.#skipWhiteSpace();
  }

  #take(columns: number): void {
    this.#taken += Math.min(columns, this.#indent);
  }

  #matchContainers(): number {
    let depth = 0;
    for (const container of this.#containers) {
      const isBlank = this.#at >= this.#end;
      if (container.indent === 0) {
        if (isBlank || this.#indent >= codeIndent || this.#text.charCodeAt(this.#at) !== 0x3e) return depth;
        this.#skipMark(1);
        this.#take(1);
      } else if (isBlank ? container.empty : this.#indent < container.indent) return depth;
      else this.#take(container.indent);
      depth++;
    }
    return depth;
  }

  /** Gives the line to an open fence, HTML block or indented code; returns whether it was accepted. */
  #continueLeaf(): boolean {
    const isCode = this.#indent >= codeIndent;
    switch (this.#leaf) {
      case 'fence':
        if (!isCode && this.#text.startsWith(this.#fence, this.#at) && fenceEnd.test(this.#rest())) this.#leaf = 'none';
        return true;
      case 'html':
        if (this.#htmlEnd.test(this.#rest())) this.#leaf = 'none';
        return true;
      case 'code':
        if (isCode || this.#at >= this.#end) return true;
        this.#leaf = 'none';
        return false;
      default:
        return false;
    }
  }

  #startMarkedHeading(): boolean {
    const index = this.#marks.findIndex((mark) => {
      const end = this.#at + mark.length;
      return this.#text.startsWith(mark, this.#at) && (end >= this.#end || /\s/.test(this.#text.charAt(end)));
    });
    if (index === -1) return false;
    const title = this.#text.slice(this.#at + this.#marks[index]!.length, this.#end).trim();
    return this.#begin('none', { level: firstMarkedLevel + index, title, end: this.#end });
  }

  #startQuote(): boolean {
    if (this.#text.charCodeAt(this.#at) !== 0x3e || this.#depth >= maxDepth) return false;
    this.#skipMark(1);
    this.#take(1);
    return this.#open({ indent: 0, empty: false });
  }

  #startItem(): boolean {
    const width = this.#depth < maxDepth ? this.#listMarkerWidth() : 0;
    if (width === 0) return false;
    const end = this.#at + width;
    const isEmpty = endOfWhiteSpace(this.#text, end, this.#end) === this.#end;
    if (this.#inParagraph && this.#inside) {
      // Only `1.` and bullets may interrupt a paragraph.
      if (isEmpty || (width > 1 && Number(this.#text.slice(this.#at, end - 1)) !== 1)) return false;
    }
    const outer = this.#indent;
    this.#skipMark(width);
    const padding = isEmpty || this.#indent > 4 ? 1 : this.#indent;
    this.#take(padding);
    return this.#open({ indent: outer + width + padding, empty: isEmpty }, 'item');
  }

  /** Returns the length of a bullet, or of at most nine digits with `.` or `)`, before white space; 0 for anything else. */
  #listMarkerWidth(): number {
    let at = this.#at;
    const first = this.#text.charCodeAt(at);
    if (isDigit(first)) {
      while (isDigit(this.#text.charCodeAt(at))) at++;
      const unit = this.#text.charCodeAt(at);
      if (at - this.#at > 9 || (unit !== 0x2e && unit !== 0x29)) return 0;
    } else if (first !== 0x2d && first !== 0x2a && first !== 0x2b) return 0;
    return at + 1 >= this.#end || isLineSpace(this.#text.charCodeAt(at + 1)) ? at + 1 - this.#at : 0;
  }

  /** Returns whether the line begins, or underlines, a block other than a paragraph. */
  #startLeaf(): boolean {
    switch (this.#text[this.#at]) {
      case '#':
        return this.#startHeading();
      case '`':
      case '~': {
        fenceStart.lastIndex = this.#at;
        const fence = fenceStart.exec(this.#text);
        if (!fence) return false;
        this.#fence = (fence[1] ?? fence[2])!;
        return this.#begin('fence');
      }
      case '<': {
        // The last kind does not interrupt a paragraph.
        const kinds = this.#inParagraph ? htmlKinds.slice(0, -1) : htmlKinds;
        const end = kinds.find(([start]) => this.#matches(start))?.[1];
        if (!end) return false;
        this.#htmlEnd = end;
        return this.#begin(end.test(this.#rest()) ? 'none' : 'html');
      }
      case '=':
        return this.#isUnderline() && this.#underline();
      case '-':
        return this.#isUnderline() ? this.#underline() : this.#startThematicBreak();
      case '*':
      case '_':
        return this.#startThematicBreak();
      default:
        return false;
    }
  }

  /** `# Title ##`: marks that stand alone at the end close the heading. */
  #startHeading(): boolean {
    let at = this.#at;
    while (this.#text.charCodeAt(at) === 0x23) at++;
    const level = at - this.#at;
    const next = this.#text.charCodeAt(at);
    if (level > 6 || (at < this.#end && !isLineSpace(next))) return false;
    let title = this.#text.slice(at, this.#end).trim();
    if (title.endsWith('#')) title = title.replace(/(?:^|[ \t])#+$/, '').trimEnd();
    title = withoutLinks(title);
    return this.#begin('none', title === '' ? untitled[level] : { level, title, end: this.#end });
  }

  /** At least three of `*`, `-` or `_`, which may have spaces between them. A pattern takes several times as long. */
  #startThematicBreak(): boolean {
    const mark = this.#text.charCodeAt(this.#at);
    let marks = 0;
    let at = this.#at;
    for (let unit = mark; unit === mark || unit === 0x20 || unit === 0x09; unit = this.#text.charCodeAt(at)) {
      if (unit === mark) marks++;
      at++;
    }
    if (this.#text.charCodeAt(at) === 0x0d) at++;
    return marks >= 3 && (at >= this.#text.length || this.#text.charCodeAt(at) === 0x0a) && this.#begin('none');
  }

  #isUnderline(): boolean {
    return this.#inParagraph && this.#inside && this.#matches(setextUnderline);
  }

  /** The open paragraph turns out to be a heading. */
  #underline(): true {
    const paragraph = this.blocks.at(-1);
    if (this.#containers.length === 0 && paragraph) {
      const level = this.#text[this.#at] === '=' ? 1 : 2;
      const title = withoutLinks(this.#text.slice(paragraph.start, this.#start)).replace(/\s+/g, ' ').trim();
      this.blocks[this.blocks.length - 1] = { ...paragraph, heading: { level, title, end: this.#end } };
    }
    this.#leaf = 'none';
    return true;
  }

  #closeContainers(): void {
    // Setting the length takes several times as long.
    while (this.#containers.length > this.#depth) this.#containers.pop();
  }

  #open(container: Container, kind?: BlockKind): true {
    this.#begin('none', undefined, kind);
    this.#containers.push(container);
    this.#depth++;
    this.#inParagraph = false;
    return true;
  }

  #begin(leaf: Leaf, heading?: Heading, kind: BlockKind | undefined = leaf === 'fence' ? 'code' : undefined): true {
    const containers = this.#depth;
    // An item is deeper than the text before its list, and what it contains is deeper than the item.
    const depth = 2 * containers + (kind === 'item' ? 1 : 0);
    this.#closeContainers();
    if (containers === 0) this.blocks.push({ start: this.#start, heading, depth, kind });
    else {
      const innermost = this.#containers[this.#containers.length - 1];
      if (innermost) innermost.empty = false;
      // The line may begin several blocks. The outermost one counts.
      if (this.blocks[this.blocks.length - 1]?.start !== this.#start)
        this.blocks.push({ start: this.#start, heading: undefined, depth, kind });
    }
    this.#leaf = leaf;
    return true;
  }

  #rest(): string {
    return this.#text.slice(this.#at, this.#end);
  }

  /** @param pattern - with the flag `y` */
  #matches(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    return pattern.test(this.#text);
  }
}

/** A link or a picture, with its text. Its parts have a limit, so that the time stays linear. */
const link = /!?\[([^[\]]{0,300})\](?:\([^()\n]{0,1000}(?:\([^()\n]{0,300}\)[^()\n]{0,300})?\)|\[[^[\]]{0,300}\])/g;

/** The titles of chunks say what a heading says. A picture in a link is two levels. */
function withoutLinks(title: string): string {
  return title.includes('](') ? title.replace(link, '$1').replace(link, '$1').trim() : title;
}

/** Headings without a title, by their level. They begin no section, so their end is not read. */
const untitled: readonly Heading[] = [0, 1, 2, 3, 4, 5, 6].map((level) => ({ level, title: '', end: 0 }));

function isLineSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x09 || unit === 0x0a || unit === 0x0d;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/** Whether a block other than a paragraph can start with each of the ASCII characters. */
const startsBlock = Array.from({ length: 0x80 }, (_, unit) =>
  '>#`~<=-*_+0123456789'.includes(String.fromCharCode(unit)),
);

const fenceStart = /(`{3,})[^`\n]*(?=\n|$)|(~{3,})/y;
const fenceEnd = /^(?:`+|~+)\s*$/;
const setextUnderline = /(?:=+|-+)[ \t]*\r?(?=\n|$)/y;
const blankLine = /^$/;

const blockTags =
  'address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul';
const attribute =
  String.raw`[ \t\r]+[A-Za-z_:][\w.:-]*(?:[ \t\r]*=[ \t\r]*(?:[^\s"'=<>` + '`' + String.raw`]+|'[^'\n]*'|"[^"\n]*"))?`;

/** @see [CommonMark 0.31, HTML blocks](https://spec.commonmark.org/0.31.2/#html-blocks), whose seven kinds these are */
const htmlKinds: readonly (readonly [start: RegExp, end: RegExp])[] = [
  [/<(?:script|pre|textarea|style)(?=[\s>]|$)/iy, /<\/(?:script|pre|textarea|style)>/i],
  [/<!--/y, /-->/],
  [/<\?/y, /\?>/],
  [/<![A-Za-z]/y, />/],
  [/<!\[CDATA\[/y, /\]\]>/],
  [new RegExp(`</?(?:${blockTags})(?=[\\s>]|/>|$)`, 'iy'), blankLine],
  [
    new RegExp(
      `(?:<[A-Za-z][A-Za-z0-9-]*(?:${attribute})*[ \\t\\r]*/?>|</[A-Za-z][A-Za-z0-9-]*[ \\t\\r]*>)[ \\t\\r]*(?=\\n|$)`,
      'y',
    ),
    blankLine,
  ],
];
