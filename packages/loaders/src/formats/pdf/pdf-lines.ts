import { uniteBoxes, type PageBox } from '@quiver/rag/document';
import { composeAccents, decodeGlyph, isSymbolic } from './pdf-glyphs.js';
import type { Pdfium } from './pdfium.js';

/** A font of a document. */
export interface PdfFont {
  readonly name: string;
  readonly isBold: boolean;
  /** Whether its letters have one width, as the file or their widths say. */
  isMonospaced: boolean;
  /** Whether its codes may be no letters although PDFium takes them for such. */
  readonly isSymbolic: boolean;
  /** Widths of the first different letters, in heights of the line. */
  readonly widths: Map<number, number>;
}

/** A word, or letters in one font. */
interface Word {
  text: string;
  box: PageBox;
  readonly font: PdfFont;
  readonly size: number;
  readonly baseline: number;
  readonly isRotated: boolean;
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
  readonly words: readonly Word[];
  readonly cells: readonly Cell[];
  readonly text: string;
  readonly box: PageBox;
  readonly baseline: number;
  readonly isRotated: boolean;
  /** Size of most of its letters. */
  readonly size: number;
  readonly isBold: boolean;
  /** Whether it is in a font with letters of one width. */
  readonly isCode: boolean;
  /** Right end of its column, as far as the lines around it show. */
  edge: number;
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
const [lineEnd, space, fixedSpace, firstPrivate] = [10, 32, 0xa0, 0xd800];
/** Letters that are not divided by spaces, as those of Korean words are. */
const [firstCjk, firstHangul] = [0x2e80, 0xac00];
/** Letters whose widths are compared, and letters of other fonts that a line of code may have. */
const [firstLetter, lastLetter, leastLetters, mostOthers] = [0x61, 0x7a, 8, 6];
const rightToLeft = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/;

/** Reads the lines of a page. PDFium returns its characters in reading order and marks the ends of lines. */
export function readLines(pdfium: Pdfium, page: number, context: PageContext): Line[] {
  const lines = readWords(pdfium, page, context).map((words) => toLine(words, context));
  for (const [index, line] of lines.entries()) {
    const near = lines.slice(Math.max(0, index - 5), index + 6);
    const column = near.filter(({ size, box }) => size === line.size && Math.abs(box[0] - line.box[0]) < 6 * size);
    line.edge = Math.max(...column.map(({ box }) => box[2]));
  }
  return lines;
}

function isDivided({ columns }: PageContext, from: number, [left, top, , bottom]: PageBox): boolean {
  return columns.some((rule) => rule[0] > from && rule[0] < left + 1 && rule[1] < bottom && rule[3] > top);
}

function readWords(pdfium: Pdfium, page: number, context: PageContext): Word[][] {
  const { call, out } = pdfium;
  const { number, fonts, toShown } = context;
  const content = call.FPDFText_LoadPage(page);
  const count = Math.min(call.FPDFText_CountChars(content), maxCharacters);
  const isTurned = call.FPDFPage_GetRotation(page) % 2 === 1;
  const lines: Word[][] = [];
  let word: Word | undefined;
  let isEnded = true;
  let object = 0;
  let font = readFont(pdfium, 0, number, fonts);
  for (let index = 0; index < count; index += 1) {
    const code = call.FPDFText_GetUnicode(content, index);
    if (code === space || code === fixedSpace || (code < space && call.FPDFText_IsGenerated(content, index) === 1)) {
      word = undefined;
      isEnded ||= code === lineEnd;
      continue;
    }
    call.FPDFText_GetLooseCharBox(content, index, out);
    const [x0, y1, x1, y0] = pdfium.results;
    const box = toShown(x0, y0, x1, y1);
    const next = call.FPDFText_GetTextObject(content, index);
    const isOther = next !== object && next !== 0;
    if (isOther) font = readFont(pdfium, call.FPDFTextObj_GetFont(next), number, fonts);
    object = next;
    const gap = word ? Math.max(box[0] - word.box[2], word.box[0] - box[2]) : 0;
    const isApart = gap > narrowGap * (y1 - y0) && !(code >= firstCjk && code < firstHangul);
    // The text of a cell may reach into the next one.
    if (!word || isApart || (isOther && isDivided(context, word.box[0], box))) {
      call.FPDFText_GetMatrix(content, index, out);
      const [a, b, c, d, x, y] = pdfium.results;
      const size = Math.round(call.FPDFText_GetFontSize(content, index) * Math.hypot(c, d) * 10) / 10;
      const isRotated = Math.abs(b) > Math.abs(a) !== isTurned;
      word = { text: '', box, font, size, baseline: toShown(x, y, x, y)[1], isRotated };
      const last = lines.at(-1)?.at(-1);
      const isLevel = last && last.box[1] < box[3] && last.box[3] > box[1];
      const distance = last ? box[0] - last.box[2] : 0;
      // PDFium also ends lines at small letters of formulas.
      const isNear = distance > -1 && distance < size;
      if (isLevel && isEnded && isNear && distance < narrowGap * size) word = last;
      else if (isLevel ? !isEnded || isNear : last?.isRotated && !isEnded) lines.at(-1)!.push(word);
      else lines.push([word]);
      isEnded = false;
    }
    const isForward = box[2] > word.box[2];
    word.box = uniteBoxes([word.box, box]);
    if (code === hyphenMark) {
      word.text += '-';
      word = undefined;
      isEnded = true;
      continue;
    }
    if (code >= firstLetter && code <= lastLetter && font.widths.size < leastLetters && x1 > x0) {
      font.widths.set(code, (x1 - x0) / (y1 - y0));
      if (font.widths.size === leastLetters) font.isMonospaced ||= measure(font);
    }
    const isPlain = code >= space && code < firstPrivate && !font.isSymbolic;
    const letter = isPlain
      ? String.fromCharCode(code)
      : decodeGlyph(code, call.FPDFText_HasUnicodeMapError(content, index) === 1, font.name);
    // Arabic and Hebrew letters that the file places from left to right.
    word.text = isForward && rightToLeft.test(letter) ? letter + word.text : word.text + letter;
  }
  call.FPDFText_ClosePage(content);
  return lines;
}

function toLine(words: readonly Word[], context: PageContext): Line {
  const { isRotated, baseline } = words[0]!;
  const cells: Cell[] = [];
  const sizes = new Counts();
  let [code, others] = [0, 0];
  for (const { text, box, font, size } of words) {
    // Numbers of lines are not letters of a line of code.
    const letters = text.replace(/\d/g, '').length;
    sizes.add(size, letters);
    if (font.isMonospaced) code += letters;
    else others += letters;
    const [left, , right] = box;
    const cell = cells.at(-1);
    const isApart = !cell || Math.max(left - cell.right, cell.left - right) > wideGap * size;
    if (!cell || (!isRotated && (isApart || isDivided(context, cell.left, box)))) cells.push({ text, left, right });
    else {
      cell.text += ` ${text}`;
      [cell.left, cell.right] = [Math.min(cell.left, left), Math.max(cell.right, right)];
    }
  }
  for (const cell of cells) cell.text = composeAccents(cell.text);
  const box = uniteBoxes(words.map((word) => word.box));
  const isBold = words.every(({ font }) => font.isBold);
  const isCode = code > others && others < mostOthers;
  const [page, text, size] = [context.number, textOf(cells), sizes.most];
  return { page, words, cells, text, box, baseline, isRotated, size, isBold, isCode, edge: 0 };
}

/** Numbers of values. */
export class Counts extends Map<number, number> {
  add(value: number, more: number): this {
    return this.set(value, (this.get(value) ?? 0) + more);
  }

  /** The value with the highest number. */
  get most(): number {
    return [...this].reduce((a, b) => (b[1] > a[1] ? b : a), [0, -1])[0];
  }
}

export const textOf = (cells: readonly Cell[]): string => cells.map(({ text }) => text).join(' ');

function measure({ widths }: PdfFont): boolean {
  const most = Math.max(...widths.values());
  return most - Math.min(...widths.values()) < 0.1 * most;
}

function readFont(pdfium: Pdfium, address: number, page: number, fonts: Map<string, PdfFont>): PdfFont {
  const { call } = pdfium;
  // Addresses hold for a page. Bitmap fonts have no names.
  const key = `${page} ${address}`;
  const known = fonts.get(key);
  if (known) return known;
  const name =
    address === 0 ? '' : pdfium.text((to, size) => call.FPDFFont_GetBaseFontName(address, to, size), 'utf-8');
  const isBold = /bold|black|heavy|medi$|cmb|cmssbx|semibd|sfbx|ecbx/i.test(name);
  const isMonospaced = address !== 0 && (call.FPDFFont_GetFlags(address) & 1) === 1;
  const font = fonts.get(name || key) ?? {
    name,
    isBold,
    isMonospaced,
    isSymbolic: isSymbolic(name),
    widths: new Map(),
  };
  fonts.set(key, font).set(name, font);
  return font;
}
