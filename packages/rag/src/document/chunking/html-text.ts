import { QuiverError } from '@quiver/core';
import { Parser } from 'htmlparser2';
import type { Block } from './sections.js';
import { DecodedText } from './decoded-text.js';

/** A block of the text of an HTML document: the content of one block-level element. */
export interface HtmlBlock extends Block {
  /** Path of that element in the source: `/html[1]/body[1]/p[2]`. Elements that a browser would add are not counted. */
  readonly xpath: string;
}

/** A requested element, as a span of the text. */
export interface HtmlElement {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  /** `aria-label` of the element, otherwise its `id`. */
  readonly label: string | undefined;
}

export interface HtmlText {
  /** Without tags, characters decoded, white space as a browser would show it. */
  readonly text: string;
  readonly blocks: readonly HtmlBlock[];
  readonly elements: readonly HtmlElement[];
  readonly decoded: DecodedText;
}

/**
 * Reads the text that a browser shows, without `script`, `style`, `head` and similar elements.
 *
 * @throws `HTML_TOO_DEEP` for elements nested more than 10,000 deep
 */
export function readHtmlText(source: string, elementNames: ReadonlySet<string>): HtmlText {
  const reader = new HtmlReader(elementNames);
  const parser = new Parser(
    {
      onopentag: (name, attributes) => reader.open(name, attributes, parser.startIndex),
      onclosetag: (name) => reader.close(name, parser.endIndex + 1),
      ontext: (data) => reader.addText(data, parser.startIndex, parser.endIndex + 1),
    },
    { recognizeSelfClosing: false },
  );
  parser.end(source);
  return reader.finish();
}

interface Element {
  readonly name: string;
  readonly xpath: string;
  readonly isBlock: boolean;
  /** The path of the innermost block, which may be the element itself. */
  readonly blockXpath: string;
  /** Number of children of each name so far. */
  children: Map<string, number> | undefined;
  /** Present for a requested element. */
  readonly asked?: { start: number; label: string | undefined };
}

/** Deeper paths are truncated, so that the time stays linear. */
const maxDepth = 200;

/** The parser takes quadratic time for deep nesting; browsers stop at 512. */
const maxNesting = 10_000;
const collapsible = /[ \t\n\r\f]+/g;

class HtmlReader {
  readonly #elementNames: ReadonlySet<string>;
  readonly #blocks: {
    start: number;
    heading: { level: number; title: string; end: number } | undefined;
    xpath: string;
    depth: number;
  }[] = [];
  readonly #elements: HtmlElement[] = [];
  readonly #decoded = new DecodedText();
  readonly #stack: Element[] = [{ name: '', xpath: '', isBlock: true, blockXpath: '', children: undefined }];
  #hidden = 0;
  #preformatted = 0;
  /** Open rows of tables, and those of them that contain a block. */
  #rows = 0;
  #filledRows = 0;
  /** White space that is written before the next text, as an index of {@link gaps}. */
  #gap = 0;
  #gapAt = 0;
  #blockXpath = '';
  #startsBlock = true;
  #heading: { level: number; block: number } | undefined;
  /** Requested elements without text so far. */
  #waiting: { start: number }[] = [];

  constructor(elementNames: ReadonlySet<string>) {
    this.#elementNames = elementNames;
  }

  open(name: string, attributes: Record<string, string>, at: number): void {
    if (this.#stack.length > maxNesting) throw tooDeep(at);
    const parent = this.#stack.at(-1) as Element;
    const kind = tagKind(name);
    const isBlock = kind === 'block' || kind === 'cell';
    const place = (parent.children?.get(name) ?? 0) + 1;
    (parent.children ??= new Map()).set(name, place);
    const xpath = this.#stack.length < maxDepth ? `${parent.xpath}/${name}[${place}]` : parent.xpath;
    const asked = this.#elementNames.has(name)
      ? { start: -1, label: attributes['aria-label'] ?? attributes['id'] }
      : undefined;
    if (asked) this.#waiting.push(asked);
    const blockXpath = isBlock ? xpath : parent.blockXpath;
    this.#stack.push({ name, xpath, isBlock, blockXpath, children: undefined, ...(asked && { asked }) });
    if (kind === 'hidden') this.#hidden++;
    if (name === 'tr') this.#rows++;
    if (name === 'pre' || name === 'textarea') this.#preformatted++;
    if (kind === 'break') this.#addGap(lineGap, at);
    if (isBlock) this.#startBlock(name, xpath, at);
    const level = headingLevel(name);
    if (level !== undefined) this.#heading = { level, block: -1 };
  }

  close(name: string, at: number): void {
    const element = this.#stack.at(-1) as Element;
    if (element.name !== name || this.#stack.length === 1) return;
    this.#stack.pop();
    if (tagKind(name) === 'hidden') this.#hidden--;
    if (name === 'tr') this.#filledRows = Math.min(this.#filledRows, --this.#rows);
    if (name === 'pre' || name === 'textarea') this.#preformatted--;
    if (headingLevel(name) !== undefined) this.#endHeading();
    if (element.asked && element.asked.start !== -1) {
      this.#elements.push({ name, start: element.asked.start, end: this.#decoded.length, label: element.asked.label });
    }
    if (element.isBlock) this.#startBlock(name, (this.#stack.at(-1) as Element).blockXpath, at);
  }

  addText(data: string, start: number, end: number): void {
    if (this.#hidden > 0) return;
    if (this.#preformatted > 0) return this.#write(data, start, end);
    // Only text that is the same in the source can be split further.
    if (data.length !== end - start) return this.#write(data, start, end);
    let from = 0;
    collapsible.lastIndex = 0;
    for (let space = collapsible.exec(data); space; space = collapsible.exec(data)) {
      const { index } = space;
      const after = collapsible.lastIndex;
      // A single space between words stays part of its run.
      if (after - index === 1 && data.charCodeAt(index) === 0x20 && index > from && after < data.length) continue;
      if (index > from) this.#write(data.slice(from, index), start + from, start + index);
      this.#addGap(spaceGap, start + index);
      from = after;
    }
    if (from < data.length) this.#write(data.slice(from), start + from, end);
  }

  finish(): HtmlText {
    const text = this.#decoded.toString();
    for (const { start, heading } of this.#blocks)
      if (heading) heading.title = text.slice(start, heading.end).replace(/\s+/g, ' ').trim();
    return { text, blocks: this.#blocks, elements: this.#elements, decoded: this.#decoded };
  }

  #startBlock(name: string, xpath: string, at: number): void {
    this.#addGap(tagKind(name) === 'cell' ? cellGap : paragraphs.test(name) ? paragraphGap : lineGap, at);
    this.#blockXpath = xpath;
    this.#startsBlock = true;
  }

  #endHeading(): void {
    const heading = this.#heading;
    this.#heading = undefined;
    const block = heading && this.#blocks[heading.block];
    if (!block) return;
    block.heading = { level: heading.level, title: '', end: this.#decoded.length };
  }

  #addGap(gap: number, at: number): void {
    if (gap <= this.#gap) return;
    this.#gap = gap;
    this.#gapAt = at;
  }

  #write(data: string, start: number, end: number): void {
    if (data === '') return;
    if (this.#decoded.length > 0 && this.#gap > 0) this.#decoded.append(gaps[this.#gap]!, this.#gapAt, this.#gapAt);
    this.#gap = 0;
    for (const element of this.#waiting) element.start = this.#decoded.length;
    this.#waiting = [];
    if (this.#startsBlock) {
      this.#startsBlock = false;
      if (this.#heading?.block === -1) this.#heading.block = this.#blocks.length;
      // A row of a table stays together if it fits: all but its first block are inside it.
      const xpath = this.#blockXpath;
      this.#blocks.push({ start: this.#decoded.length, heading: undefined, xpath, depth: this.#filledRows });
      this.#filledRows = this.#rows;
    }
    this.#decoded.append(data, start, end);
  }
}

function tooDeep(at: number): QuiverError {
  return new QuiverError(
    'HTML_TOO_DEEP',
    `The elements at ${at} are nested more than ${maxNesting} deep. Check that it is HTML, or chunk it as text.`,
    { details: { index: at } },
  );
}

/** White space between texts, weakest first: the strongest between two texts is written. */
const gaps = ['', ' ', '\t', '\n', '\n\n'];
const [spaceGap, cellGap, lineGap, paragraphGap] = [1, 2, 3, 4] as const;
const paragraphs = /^(?:h[1-6]|p|ul|ol|dl|pre|table|blockquote|section|article)$/;

/** Effect of elements on their text. Elements that are not listed are inline. */
type TagKind = 'block' | 'hidden' | 'cell' | 'break';

const tags: Readonly<Record<TagKind, string>> = {
  block:
    'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search section summary table tbody tfoot thead tr ul',
  hidden:
    'applet audio canvas embed frame frameset head iframe link math meta noembed noframes noscript object script style svg template title video',
  cell: 'td th',
  break: 'br',
};

const kinds: ReadonlyMap<string, TagKind> = new Map(
  Object.entries(tags).flatMap(([kind, names]) => names.split(' ').map((name) => [name, kind as TagKind])),
);

export function tagKind(name: string): TagKind | undefined {
  return kinds.get(name);
}

/** Returns 1 to 6 for `h1` to `h6`. */
export function headingLevel(name: string): number | undefined {
  const level = name.length === 2 && name.charCodeAt(0) === 0x68 ? name.charCodeAt(1) - 0x30 : 0;
  return level >= 1 && level <= 6 ? level : undefined;
}
