import { QuiverError } from '@quiver/core';
import { Parser } from 'htmlparser2';
import type { Block, BlockKind } from './sections.js';
import { DecodedText } from './decoded-text.js';
import { headingLevel, tagKind, type TagKind } from './html-tags.js';

/** A block of the text of an HTML document: the content of one block-level element. */
export interface HtmlBlock extends Block {
  /** Path of that element, see {@link toXpath}. */
  readonly path: PathStep | undefined;
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

/** Deeper paths are truncated, so that the time stays linear. */
const maxDepth = 200;

/** The parser takes quadratic time for deep nesting; browsers stop at 512. */
const maxNesting = 10_000;

/** A step in the path of an element. Paths of chunks are written out, and no others. */
interface PathStep {
  readonly parent: PathStep | undefined;
  readonly name: string;
  /** Number among the children of the parent with this name, from 1. */
  readonly place: number;
}

/** Returns the path of an element in the source: `/html[1]/body[1]/p[2]`. Elements that a browser would add are not counted. */
export function toXpath(path: PathStep | undefined): string {
  let xpath = '';
  for (let step = path; step; step = step.parent) xpath = `/${step.name}[${step.place}]${xpath}`;
  return xpath;
}

interface Element {
  readonly name: string;
  readonly kind: TagKind | undefined;
  readonly path: PathStep | undefined;
  /** The path of the innermost block, which may be the element itself. */
  readonly blockPath: PathStep | undefined;
  /** Number of children of each name so far. */
  children?: Map<string, number>;
  /** Present for a requested element. `start` is -1 before its first text. */
  readonly asked?: { start: number; label: string | undefined } | undefined;
}

/**
 * Reads the text that a browser shows, without `script`, `style`, `head` and similar elements.
 *
 * @throws `HTML_TOO_DEEP` for elements nested more than 10,000 deep
 */
export function readHtmlText(source: string, elementNames: ReadonlySet<string>): HtmlText {
  const decoded = new DecodedText(source);
  const blocks: (HtmlBlock & { heading: { level: number; title: string; end: number } | undefined })[] = [];
  const elements: HtmlElement[] = [];
  const stack: Element[] = [{ name: '', kind: 'block', path: undefined, blockPath: undefined }];
  let hidden = 0;
  let preformatted = 0;
  /** Open rows of tables, and those of them that contain a block. */
  let rows = 0;
  let filledRows = 0;
  /** Open lists, and whether the next block is the first one of an item. */
  let lists = 0;
  let startsItem = false;
  /** White space that is written before the next text, as an index of {@link gaps}. */
  let gap = 0;
  let gapAt = 0;
  let blockPath: PathStep | undefined;
  let startsBlock = true;
  let openHeading: { level: number; block: number } | undefined;
  /** Requested elements without text so far. */
  const waiting: { start: number }[] = [];

  function addGap(added: number, at: number): void {
    if (added <= gap) return;
    gap = added;
    gapAt = at;
  }

  /** At both edges of a block. */
  function startBlock({ name, kind }: Element, path: PathStep | undefined, at: number): void {
    addGap(kind === 'cell' ? cellGap : paragraphs.has(name) ? paragraphGap : lineGap, at);
    blockPath = path;
    startsBlock = true;
  }

  function kindOfBlock(): BlockKind | undefined {
    if (filledRows > 0) return 'cell';
    if (rows > 0) return 'row';
    if (preformatted > 0) return 'code';
    if (startsItem) return 'item';
    return blockPath && terms.has(blockPath.name) ? 'term' : undefined;
  }

  /** Writes what is before a text: white space, and the beginning of a block. */
  function beginText(): void {
    if (decoded.length > 0 && gap > 0) decoded.append(gaps[gap]!, gapAt, gapAt);
    gap = 0;
    while (waiting.length > 0) waiting.pop()!.start = decoded.length;
    if (!startsBlock) return;
    startsBlock = false;
    if (openHeading?.block === -1) openHeading.block = blocks.length;
    // A row of a table stays together if it fits: all but its first block are inside it. So does an item, and a list with the text before.
    const depth = filledRows + 2 * lists - (startsItem ? 1 : 0);
    blocks.push({ start: decoded.length, heading: undefined, path: blockPath, depth, kind: kindOfBlock() });
    filledRows = rows;
    startsItem = false;
  }

  function copy(start: number, end: number): void {
    if (start === end) return;
    beginText();
    decoded.copy(start, end);
  }

  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const at = parser.startIndex;
        if (stack.length > maxNesting) throw tooDeep(at);
        const parent = stack.at(-1)!;
        const kind = tagKind(name);
        const isBlock = kind === 'block' || kind === 'cell';
        const place = (parent.children?.get(name) ?? 0) + 1;
        (parent.children ??= new Map()).set(name, place);
        const path = stack.length < maxDepth ? { parent: parent.path, name, place } : parent.path;
        const isAsked = elementNames.has(name);
        const asked = isAsked ? { start: -1, label: attributes['aria-label'] ?? attributes['id'] } : undefined;
        if (asked) waiting.push(asked);
        const element = { name, kind, path, blockPath: isBlock ? path : parent.blockPath, asked };
        stack.push(element);
        if (kind === 'hidden') hidden++;
        if (name === 'tr') rows++;
        if (listNames.has(name)) lists++;
        if (name === 'li') startsItem = lists > 0;
        if (name === 'pre' || name === 'textarea') preformatted++;
        if (kind === 'break') addGap(lineGap, at);
        if (isBlock) startBlock(element, path, at);
        const level = headingLevel(name);
        if (level !== undefined) openHeading = { level, block: -1 };
      },
      onclosetag(name) {
        const element = stack.at(-1)!;
        if (element.name !== name || stack.length === 1) return;
        stack.pop();
        const { kind, asked } = element;
        if (kind === 'hidden') hidden--;
        if (name === 'tr') filledRows = Math.min(filledRows, --rows);
        if (listNames.has(name)) lists--;
        if (name === 'li') startsItem = false;
        if (name === 'pre' || name === 'textarea') preformatted--;
        if (headingLevel(name) !== undefined) {
          const block = openHeading && blocks[openHeading.block];
          if (block) block.heading = { level: openHeading!.level, title: '', end: decoded.length };
          openHeading = undefined;
        }
        if (asked && asked.start !== -1) elements.push({ name, ...asked, end: decoded.length });
        if (kind === 'block' || kind === 'cell') startBlock(element, stack.at(-1)!.blockPath, parser.endIndex + 1);
      },
      ontext(data) {
        if (hidden > 0) return;
        const start = parser.startIndex;
        const end = parser.endIndex + 1;
        // Only text that is the same in the source can be split further.
        if (data.length !== end - start) {
          beginText();
          decoded.append(data, start, end);
          return;
        }
        if (preformatted > 0) return copy(start, end);
        let from = start;
        for (let at = start; at < end; at++) {
          const unit = source.charCodeAt(at);
          if (!isSpace(unit)) continue;
          const space = at;
          while (at + 1 < end && isSpace(source.charCodeAt(at + 1))) at++;
          // A single space between words stays part of its run.
          if (unit === 0x20 && at === space && at > start && at + 1 < end) continue;
          copy(from, space);
          addGap(spaceGap, space);
          from = at + 1;
        }
        copy(from, end);
      },
    },
    { recognizeSelfClosing: false },
  );
  parser.end(source);
  const text = decoded.toString();
  for (const { start, heading } of blocks)
    if (heading) heading.title = text.slice(start, heading.end).replace(/\s+/g, ' ').trim();
  return { text, blocks, elements, decoded };
}

/** White space of HTML. */
function isSpace(unit: number): boolean {
  return unit <= 0x20 && (unit === 0x20 || unit === 0x09 || unit === 0x0a || unit === 0x0c || unit === 0x0d);
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
const paragraphs: ReadonlySet<string> = new Set(
  'h1 h2 h3 h4 h5 h6 p ul ol dl pre table blockquote section article'.split(' '),
);

const listNames: ReadonlySet<string> = new Set(['ul', 'ol']);
/** Elements that mean nothing without the text after them. */
const terms: ReadonlySet<string> = new Set(['dt', 'caption', 'summary', 'legend']);
