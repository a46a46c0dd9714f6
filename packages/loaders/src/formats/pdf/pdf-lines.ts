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
  /** Widths of the first different letters, in sizes of the font. */
  readonly widths: Map<number, number>;
}

/** Values that the letters of a text object share. */
interface Typeface {
  readonly font: PdfFont;
  readonly size: number;
  readonly baseline: number;
  readonly isRotated: boolean;
}

/** Letters in one typeface without a space or a gap between them. */
interface Word {
  text: string;
  readonly typeface: Typeface;
  box: PageBox;
  /** Whether PDFium begins a line with it. */
  readonly isFirst: boolean;
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
  /** Number of its letters in other fonts, or of Chinese, Japanese and Korean. */
  readonly others: number;
  /** Whether it ends where the longest of the lines around it does. */
  isFull: boolean;
}

/** Input of the reading of a page's lines. */
export interface PageContext {
  readonly number: number;
  readonly fonts: Map<string, PdfFont>;
  /** Drawn columns. */
  readonly columns: readonly PageBox[];
  /** Converts a rectangle to one of the page as it is shown, which may be turned. */
  readonly toShown: (left: number, bottom: number, right: number, top: number) => PageBox;
}

/** Size of a heading, in sizes of paragraphs. */
export const headingSize = 1.08;
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
/** Letters of Chinese, Japanese and Korean, which have one width in every font. */
const cjkLetter = /[\u2E80-\uFFEF]/g;
const noBox: PageBox = [0, 0, 0, 0];
const rightToLeft = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/;

/** Reads the lines of a page. PDFium returns its characters in reading order and marks the ends of lines. */
export function readLines(pdfium: Pdfium, page: number, context: PageContext): Line[] {
  const lines = groupWords(readWords(pdfium, page, context)).map((words) => toLine(words, context));
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index]!;
    let edge = 0;
    for (let near = Math.max(0, index - 5); near < Math.min(lines.length, index + 6); near += 1) {
      const { size, box } = lines[near]!;
      if (size === line.size && Math.abs(box[0] - line.box[0]) < 6 * size) edge = Math.max(edge, box[2]);
    }
    line.isFull = line.box[2] > edge - 5 * line.size;
  }
  return lines;
}

/** Reads words: letters without a space or a gap between them. It makes no object for a letter, which would take as long as PDFium. */
function readWords(pdfium: Pdfium, page: number, context: PageContext): Word[] {
  const { call, out } = pdfium;
  const content = call.FPDFText_LoadPage(page);
  const count = Math.min(call.FPDFText_CountChars(content), maxCharacters);
  const words: Word[] = [];
  let word: Word | undefined;
  let typeface: Typeface | undefined;
  let [object, isFirst] = [0, true];
  let [left, bottom, right, top] = [0, 0, 0, 0];
  const endWord = (): void => {
    if (word) word.box = context.toShown(left, bottom, right, top);
    word = undefined;
  };
  for (let index = 0; index < count; index += 1) {
    const code = call.FPDFText_GetUnicode(content, index);
    if (code === space || code === fixedSpace || (code < space && call.FPDFText_IsGenerated(content, index) === 1)) {
      endWord();
      isFirst ||= code === lineEnd;
      continue;
    }
    call.FPDFText_GetLooseCharBox(content, index, out);
    const { results } = pdfium;
    const [x0, y1, x1, y0] = [results[0], results[1], results[2], results[3]];
    const next = call.FPDFText_GetTextObject(content, index);
    const isOther = !typeface || (next !== object && next !== 0);
    if (isOther) typeface = readTypeface(pdfium, content, index, context);
    object = next;
    const gap = Math.max(x0 - right, left - x1);
    const isApart = gap > narrowGap * (y1 - y0) && !(code >= firstCjk && code < firstHangul);
    // The text of a cell may reach into the next one.
    if (isApart || (isOther && isDivided(context, left, context.toShown(x0, y0, x1, y1)))) endWord();
    const { font } = typeface!;
    measureLetter(typeface!, code, x1 - x0);
    const letter = code === hyphenMark ? '-' : readLetter(pdfium, content, index, code, font);
    if (!word) {
      words.push((word = { text: letter, box: noBox, isFirst, typeface: typeface! }));
      [left, bottom, right, top] = [x0, y0, x1, y1];
    } else {
      // Arabic and Hebrew letters that the file places from left to right.
      word.text = x1 > right && rightToLeft.test(letter) ? letter + word.text : word.text + letter;
      left = Math.min(left, x0);
      bottom = Math.min(bottom, y0);
      right = Math.max(right, x1);
      top = Math.max(top, y1);
    }
    isFirst = code === hyphenMark;
    if (isFirst) endWord();
  }
  endWord();
  call.FPDFText_ClosePage(content);
  return words;
}

function isDivided({ columns }: PageContext, from: number, [left, top, , bottom]: PageBox): boolean {
  return columns.some((rule) => rule[0] > from && rule[0] < left + 1 && rule[1] < bottom && rule[3] > top);
}

function readLetter({ call }: Pdfium, content: number, index: number, code: number, font: PdfFont): string {
  if (code >= space && code < firstPrivate && !font.isSymbolic) return String.fromCharCode(code);
  return decodeGlyph(code, call.FPDFText_HasUnicodeMapError(content, index) === 1, font.name);
}

function readTypeface(pdfium: Pdfium, content: number, index: number, context: PageContext): Typeface {
  const { call, out } = pdfium;
  const object = call.FPDFText_GetTextObject(content, index);
  const font = readFont(pdfium, object === 0 ? 0 : call.FPDFTextObj_GetFont(object), context);
  call.FPDFText_GetMatrix(content, index, out);
  const [a, b, c, d, x, y] = pdfium.results;
  const size = Math.round(call.FPDFText_GetFontSize(content, index) * Math.hypot(c, d) * 10) / 10;
  const [left, baseline, right] = context.toShown(x, y, x + Math.abs(a), y);
  return { font, size, baseline, isRotated: right - left < Math.abs(b) };
}

function readFont(pdfium: Pdfium, address: number, { number, fonts }: PageContext): PdfFont {
  const { call } = pdfium;
  // Addresses hold for a page. Bitmap fonts have no names.
  const key = `${number} ${address}`;
  const known = fonts.get(key);
  if (known) return known;
  const name =
    address === 0 ? '' : pdfium.text((to, size) => call.FPDFFont_GetBaseFontName(address, to, size), 'utf-8');
  const isBold = /bold|black|heavy|medi$|cmb|cmssbx|semibd|sfbx|ecbx/i.test(name);
  const font = fonts.get(name || key) ?? {
    name,
    isBold,
    isMonospaced: address !== 0 && (call.FPDFFont_GetFlags(address) & 1) === 1,
    isSymbolic: isSymbolic(name),
    widths: new Map(),
  };
  fonts.set(key, font).set(name, font);
  return font;
}

/** Compares the widths of the first letters of a font. */
function measureLetter({ font, size }: Typeface, code: number, width: number): void {
  const { widths } = font;
  if (widths.size === leastLetters || code < firstLetter || code > lastLetter || !(width > 0)) return;
  widths.set(code, width / size);
  const most = Math.max(...widths.values());
  if (widths.size === leastLetters) font.isMonospaced ||= most - Math.min(...widths.values()) < 0.1 * most;
}

/** Divides words into lines. PDFium also ends lines at small letters of formulas. */
function groupWords(words: readonly Word[]): Word[][] {
  const lines: Word[][] = [];
  for (const word of words) {
    const { size } = word.typeface;
    const line = lines.at(-1);
    const last = line?.at(-1);
    const isLevel = last && last.box[1] < word.box[3] && last.box[3] > word.box[1];
    const distance = last ? word.box[0] - last.box[2] : 0;
    const isNear = distance > -1 && distance < size;
    if (isLevel && word.isFirst && isNear && distance < narrowGap * size) {
      last.text += word.text;
      last.box = uniteBoxes([last.box, word.box]);
    } else if (isLevel ? !word.isFirst || isNear : last?.typeface.isRotated && !word.isFirst) line!.push(word);
    else lines.push([word]);
  }
  return lines;
}

function toLine(words: readonly Word[], context: PageContext): Line {
  const { isRotated, baseline } = words[0]!.typeface;
  const cells: Cell[] = [];
  const sizes = new Counts();
  let [code, cjk, others] = [0, 0, 0];
  for (const { text, box, typeface } of words) {
    const { font, size } = typeface;
    sizes.add(size, text.length);
    const letters = font.isMonospaced ? text.replace(cjkLetter, '').length : 0;
    code += letters;
    if (font.isMonospaced) cjk += text.length - letters;
    // Numbers of lines are not letters of a line of code.
    else if (!/^\d/.test(text)) others += text.length;
    const [left, , right] = box;
    const cell = cells.at(-1);
    const isApart = !cell || Math.max(left - cell.right, cell.left - right) > wideGap * size;
    if (!cell || (!isRotated && (isApart || isDivided(context, cell.left, box)))) cells.push({ text, left, right });
    else {
      cell.text += ` ${text}`;
      cell.left = Math.min(cell.left, left);
      cell.right = Math.max(cell.right, right);
    }
  }
  for (const cell of cells) cell.text = composeAccents(cell.text);
  const box = uniteBoxes(words.map((word) => word.box));
  const isBold = words.every(({ typeface }) => typeface.font.isBold);
  const isCode = code > others + cjk / 2 && others < mostOthers;
  const [page, text, size] = [context.number, textOf(cells), sizes.most];
  return { page, cells, text, box, baseline, isRotated, size, isBold, isCode, others: others + cjk, isFull: true };
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
