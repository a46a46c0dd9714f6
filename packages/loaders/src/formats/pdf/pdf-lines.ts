import type { PageBox } from '@quiver/rag/document';
import { composeAccents, decodeGlyph, isSymbolic } from './pdf-glyphs.js';
import type { Pdfium } from './pdfium.js';

/** A font of a document. */
export interface PdfFont {
  readonly name: string;
  readonly isBold: boolean;
  /** Whether its codes may be no letters although PDFium takes them for such. */
  readonly isSymbolic: boolean;
  isMonospaced: boolean;
  /** The first different letters, and the smallest and largest of their widths, in heights of the line. */
  readonly letters: Set<number>;
  least: number;
  most: number;
}

/** A piece of a line between wide gaps or drawn columns. */
export interface Cell {
  text: string;
  left: number;
  right: number;
}

/** A line of a page, in points from the upper left corner of the page as it is shown. */
export interface Line {
  /** Number of the page, from 1. */
  readonly page: number;
  readonly cells: Cell[];
  text: string;
  left: number;
  top: number;
  right: number;
  bottom: number;
  readonly baseline: number;
  readonly isRotated: boolean;
  /** Font and size of most of its letters, and numbers of letters by both. */
  font: PdfFont;
  size: number;
  readonly runs: { readonly font: PdfFont; readonly size: number; letters: number }[];
  /** Right end of its column, as far as the lines around it show. */
  edge: number;
}

export const textOf = (cells: readonly Cell[]): string => cells.map(({ text }) => text).join(' ');
export const boxOf = ({ left, top, right, bottom }: Line): PageBox => [left, top, right, bottom];

export function unite(a: PageBox, b: PageBox): PageBox {
  return [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])];
}

/** Letters of other fonts that a line of code may have. */
const mostOthers = 6;

/** Whether a line is in a font with letters of one width. */
export function isCode({ runs, font }: Line): boolean {
  const others = runs.reduce((sum, run) => sum + (run.font.isMonospaced ? 0 : run.letters), 0);
  return font.isMonospaced && others < mostOthers;
}

/** What the reading of a page's lines needs. */
export interface PageContext {
  readonly number: number;
  readonly fonts: Map<string, PdfFont>;
  /** Drawn columns. */
  readonly columns: readonly PageBox[];
  /** Converts a rectangle to one of the page as it is shown, which may be turned. */
  readonly toShown: (left: number, bottom: number, right: number, top: number) => PageBox;
}

/** Distances of two cells in font sizes, and of two words in heights of a letter. */
const [wideGap, narrowGap] = [0.9, 0.16];
/** A page can draw the same text a million times. */
const maxCharacters = 1_000_000;
/** Replaces a hyphen at the end of a line whose word continues in the next one. */
const hyphenMark = 2;
const [lineEnd, space, fixedSpace, firstCjk, firstPrivate] = [10, 32, 0xa0, 0x2e80, 0xd800];

/** Reads the lines of a page. PDFium returns its characters in reading order and marks the ends of lines. */
export function readLines(pdfium: Pdfium, page: number, { number, fonts, columns, toShown }: PageContext): Line[] {
  const { call, out } = pdfium;
  const content = call.FPDFText_LoadPage(page);
  const count = Math.min(call.FPDFText_CountChars(content), maxCharacters);
  const isTurned = call.FPDFPage_GetRotation(page) % 2 === 1;
  const lines: Line[] = [];
  let line: Line | undefined;
  /** The word that is read, with the index and the object of its first character. */
  let word = { text: '', index: 0, font: readFont(pdfium, 0, number, fonts), box: [0, 0, 0, 0] as PageBox };
  let { font } = word;
  let object = 0;
  const isDivided = (from: number, [left, top, , bottom]: PageBox): boolean =>
    columns.some((rule) => rule[0] > from && rule[0] < left + 1 && rule[1] < bottom && rule[3] > top);
  const endWord = (): void => {
    if (word.text === '') return;
    const { text, index, box, font } = word;
    word.text = '';
    call.FPDFText_GetMatrix(content, index, out);
    const [a, b, c, d] = pdfium.floats as unknown as [number, number, number, number];
    const size = Math.round(call.FPDFText_GetFontSize(content, index) * Math.hypot(c, d) * 10) / 10;
    const [left, top, right, bottom] = box;
    if (!line || !(line.isRotated || (top < line.bottom && bottom > line.top))) {
      call.FPDFText_GetCharOrigin(content, index, out, out + 8);
      const [x, y] = pdfium.doubles as unknown as [number, number];
      const isRotated = Math.abs(b) > Math.abs(a) !== isTurned;
      const baseline = toShown(x, y, x, y)[1];
      line = {
        page: number,
        cells: [],
        text: '',
        left,
        top,
        right,
        bottom,
        baseline,
        isRotated,
        font,
        size,
        runs: [],
        edge: 0,
      };
      lines.push(line);
    }
    const run = line.runs.find((other) => other.font === font && other.size === size);
    // Numbers of lines are no letters of a line of code.
    const letters = text.replace(/\d/g, '').length;
    if (run) run.letters += letters;
    else line.runs.push({ font, size, letters });
    const cell = line.cells.at(-1);
    const isApart = !cell || Math.max(left - cell.right, cell.left - right) > wideGap * size;
    if (!cell || (!line.isRotated && (isApart || isDivided(cell.left, box)))) line.cells.push({ text, left, right });
    else {
      cell.text += ` ${text}`;
      [cell.left, cell.right] = [Math.min(cell.left, left), Math.max(cell.right, right)];
    }
    [line.left, line.top, line.right, line.bottom] = unite(boxOf(line), box);
  };
  for (let index = 0; index < count; index += 1) {
    const code = call.FPDFText_GetUnicode(content, index);
    if (code === space || code === fixedSpace || (code < space && call.FPDFText_IsGenerated(content, index) === 1)) {
      endWord();
      if (code === lineEnd) line = undefined;
      continue;
    }
    call.FPDFText_GetLooseCharBox(content, index, out);
    const [x0, y1, x1, y0] = pdfium.floats as unknown as [number, number, number, number];
    const box = toShown(x0, y0, x1, y1);
    const next = call.FPDFText_GetTextObject(content, index);
    const isOther = next !== object && next !== 0;
    if (isOther) font = readFont(pdfium, call.FPDFTextObj_GetFont(next), number, fonts);
    object = next;
    const gap = Math.max(box[0] - word.box[2], word.box[0] - box[2]);
    const isApart = gap > narrowGap * (y1 - y0) && code < firstCjk;
    // The text of a cell may reach into the next one.
    if (word.text !== '' && (isApart || (isOther && isDivided(word.box[0], box)))) endWord();
    if (word.text === '') word = { text: '', index, font, box };
    else word.box = unite(word.box, box);
    if (code === hyphenMark) {
      word.text += '-';
      endWord();
      line = undefined;
      continue;
    }
    measure(font, code, (x1 - x0) / (y1 - y0));
    if (code >= space && code < firstPrivate && !font.isSymbolic) word.text += String.fromCharCode(code);
    else word.text += decodeGlyph(code, call.FPDFText_HasUnicodeMapError(content, index) === 1, font.name);
  }
  endWord();
  call.FPDFText_ClosePage(content);
  for (const [index, own] of lines.entries()) {
    for (const cell of own.cells) cell.text = composeAccents(cell.text);
    own.text = textOf(own.cells);
    Object.assign(
      own,
      own.runs.reduce((a, b) => (b.letters > a.letters ? b : a)),
    );
    const near = lines.slice(Math.max(0, index - 5), index + 6);
    const column = near.filter((other) => other.size === own.size && Math.abs(other.left - own.left) < 6 * own.size);
    own.edge = Math.max(own.right, ...column.map(({ right }) => right));
  }
  return lines;
}

const leastLetters = 8;
const [firstLetter, lastLetter] = [0x61, 0x7a];

function measure(font: PdfFont, letter: number, width: number): void {
  if (font.letters.size >= leastLetters || letter < firstLetter || letter > lastLetter || !(width > 0)) return;
  font.letters.add(letter);
  font.least = Math.min(font.least, width);
  font.most = Math.max(font.most, width);
  if (font.letters.size === leastLetters) font.isMonospaced ||= font.most - font.least < 0.1 * font.most;
}

function readFont(pdfium: Pdfium, address: number, page: number, fonts: Map<string, PdfFont>): PdfFont {
  const { call } = pdfium;
  const key = `${page} ${address}`;
  const known = fonts.get(key);
  if (known) return known;
  const name =
    address === 0 ? '' : pdfium.text((to, size) => call.FPDFFont_GetBaseFontName(address, to, size), 'utf-8');
  const isBold = /bold|black|heavy|medi$|cmb|cmssbx|semibd|sfbx|ecbx/i.test(name);
  const isMonospaced = address !== 0 && (call.FPDFFont_GetFlags(address) & 1) === 1;
  // Bitmap fonts have no names. Addresses hold for a page.
  const font = (name !== '' && fonts.get(name)) || {
    name,
    isBold,
    isSymbolic: isSymbolic(name),
    isMonospaced,
    letters: new Set(),
    least: 9,
    most: 0,
  };
  fonts.set(key, font).set(name, font);
  return font;
}
