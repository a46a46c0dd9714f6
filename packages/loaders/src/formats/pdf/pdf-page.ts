import type { PageBox } from '@quiver/rag/document';
import { composeAccents, decodeGlyph } from './pdf-glyphs.js';
import type { Pdfium } from './pdfium.js';

/** A font of a document. */
export interface PdfFont {
  readonly name: string;
  readonly isBold: boolean;
  /** Smallest and largest width of a letter in heights of the letters, and the first letters. */
  least: number;
  most: number;
  readonly letters: Set<number>;
  isMonospaced: boolean;
}

/** A piece of a line between wide gaps or drawn rules. */
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
  left: number;
  top: number;
  right: number;
  bottom: number;
  readonly baseline: number;
  /** Of most of its letters. */
  size: number;
  font: PdfFont;
  readonly runs: { readonly font: PdfFont; readonly size: number; letters: number }[];
  readonly isRotated: boolean;
  /** Right end of its column, as far as the lines around it show. */
  edge: number;
}

export interface PdfPage {
  readonly number: number;
  readonly lines: Line[];
  /** Drawn lines, from left to right and from top to bottom. */
  readonly rows: PageBox[];
  readonly columns: PageBox[];
  /** Texts of notes without an appearance. */
  readonly notes: string[];
  /** Whether it has pictures or glyphs, and no text. */
  readonly isUnreadable: boolean;
}

/** Whether a line is a part of a listing: letters of one width, and few others. */
export function isCode({ runs, font }: Line): boolean {
  const others = runs.filter(({ font }) => !font.isMonospaced).reduce((sum, { letters }) => sum + letters, 0);
  return others < 6 && font.isMonospaced;
}

export const textOf = ({ cells }: Pick<Line, 'cells'>): string => cells.map(({ text }) => text).join(' ');

/** Distance of two cells in font sizes. */
const wideGap = 0.9;
/** Distance of two words, in heights of their letters. */
const narrowGap = 0.16;
/** A page can draw the same text a million times. */
const maxCharacters = 1_000_000;
const maxObjects = 100_000;
const maxRules = 1000;
const maxThickness = 3;
const [pathType, imageType, formType] = [2, 3, 5];
const [linkType, widgetType] = [2, 20];

/** Reads a page. PDFium returns its characters in reading order and marks the ends of lines. */
export function readPage(pdfium: Pdfium, document: number, number: number, fonts: Map<string, PdfFont>): PdfPage {
  const { call } = pdfium;
  let page = call.FPDF_LoadPage(document, number - 1);
  if (page === 0) return { number, lines: [], rows: [], columns: [], notes: [], isUnreadable: false };
  const notes = readNotes(pdfium, page);
  if (notes !== undefined && call.FPDFPage_Flatten(page, 0) === 1) {
    // Fields and notes have become a part of the page.
    call.FPDF_ClosePage(page);
    page = call.FPDF_LoadPage(document, number - 1);
  }
  const toShown = readTransform(pdfium, page);
  const { rows, columns, hasPictures } = readObjects(pdfium, page, toShown);
  const lines = readLines(pdfium, page, { number, fonts, columns, toShown });
  const isUnreadable =
    (hasPictures || lines.length > 0) && !lines.some((line) => /[^\s\uFFFD]/.test(textOf(line))) && !notes?.length;
  call.FPDF_ClosePage(page);
  return { number, lines, rows, columns, notes: notes ?? [], isUnreadable };
}

/** Converts a rectangle of the page to one of the page as it is shown, which may be turned. */
type Transform = (left: number, bottom: number, right: number, top: number) => PageBox;

function readTransform(pdfium: Pdfium, page: number): Transform {
  pdfium.call.FPDF_GetPageBoundingBox(page, pdfium.out);
  const [x0, y1, x1, y0] = pdfium.floats as unknown as [number, number, number, number];
  const transforms: Transform[] = [
    (left, bottom, right, top) => [left - x0, y1 - top, right - x0, y1 - bottom],
    (left, bottom, right, top) => [bottom - y0, left - x0, top - y0, right - x0],
    (left, bottom, right, top) => [x1 - right, bottom - y0, x1 - left, top - y0],
    (left, bottom, right, top) => [y1 - top, x1 - right, y1 - bottom, x1 - left],
  ];
  return transforms[pdfium.call.FPDFPage_GetRotation(page)] ?? transforms[0]!;
}

/** Reads the texts of notes and fields, which are not drawn; `undefined` where there are none. */
function readNotes(pdfium: Pdfium, page: number): string[] | undefined {
  const { call } = pdfium;
  let notes: string[] | undefined;
  for (let index = 0; index < Math.min(call.FPDFPage_GetAnnotCount(page), maxObjects); index += 1) {
    const note = call.FPDFPage_GetAnnot(page, index);
    const type = call.FPDFAnnot_GetSubtype(note);
    if (note === 0 || type === linkType) continue;
    notes ??= [];
    const text = pdfium.withText(type === widgetType ? 'V' : 'Contents', (key) =>
      pdfium.text((buffer, size) => call.FPDFAnnot_GetStringValue(note, key, buffer, size)),
    );
    if (text.trim() !== '') notes.push(text.trim());
    call.FPDFPage_CloseAnnot(note);
  }
  return notes;
}

/** Finds drawn lines and pictures. */
function readObjects(pdfium: Pdfium, page: number, toShown: Transform) {
  const { call, out } = pdfium;
  const rows: PageBox[] = [];
  const columns: PageBox[] = [];
  let hasPictures = false;
  const read = (count: number, get: (index: number) => number, depth: number): void => {
    for (let index = 0; index < Math.min(count, maxObjects); index += 1) {
      const object = get(index);
      const type = call.FPDFPageObj_GetType(object);
      if (type === imageType) hasPictures = true;
      else if (type === formType && depth < 3)
        read(call.FPDFFormObj_CountObjects(object), (at) => call.FPDFFormObj_GetObject(object, at), depth + 1);
      else if (type === pathType && depth === 0 && rows.length + columns.length < maxRules) {
        call.FPDFPageObj_GetBounds(object, out, out + 4, out + 8, out + 12);
        const [left, bottom, right, top] = pdfium.floats as unknown as [number, number, number, number];
        const rule = toShown(left, bottom, right, top);
        const [width, height] = [rule[2] - rule[0], rule[3] - rule[1]];
        if (height < maxThickness && width > 2 * maxThickness) rows.push(rule);
        else if (width < maxThickness && height > 2 * maxThickness) columns.push(rule);
      }
    }
  };
  read(call.FPDFPage_CountObjects(page), (index) => call.FPDFPage_GetObject(page, index), 0);
  return { rows, columns, hasPictures };
}

interface Word {
  readonly text: string;
  readonly box: PageBox;
  readonly baseline: number;
  readonly size: number;
  readonly font: PdfFont;
  readonly isRotated: boolean;
}

interface PageContext {
  readonly number: number;
  readonly fonts: Map<string, PdfFont>;
  readonly columns: readonly PageBox[];
  readonly toShown: Transform;
}

function readLines(pdfium: Pdfium, page: number, { number, fonts, columns, toShown }: PageContext): Line[] {
  const { call, out } = pdfium;
  const content = call.FPDFText_LoadPage(page);
  const count = Math.min(call.FPDFText_CountChars(content), maxCharacters);
  const isTurned = call.FPDFPage_GetRotation(page) % 2 === 1;
  const lines: Line[] = [];
  let line: Line | undefined;
  let text = '';
  let first = 0;
  let wordFont: PdfFont;
  /** Rectangle of the word on the page that is not turned: left, bottom, right, top. */
  let around: [number, number, number, number] = [0, 0, 0, 0];
  /** Fonts by their addresses, which hold for this page. */
  const found = new Map<number, PdfFont>();
  let [object, font] = [0, readFont(pdfium, 0, number, fonts)];
  const fontAt = (index: number): PdfFont => {
    const next = call.FPDFText_GetTextObject(content, index);
    if (next === object || next === 0) return font;
    object = next;
    const address = call.FPDFTextObj_GetFont(object);
    font = found.get(address) ?? readFont(pdfium, address, number, fonts);
    found.set(address, font);
    return font;
  };
  /** Whether a drawn line is between the left end of a cell and a word. */
  const isDivided = (from: number, to: PageBox): boolean =>
    columns.some(([left, top, right, bottom]) => {
      const middle = (left + right) / 2;
      return middle > from + 1 && middle < to[0] + 1 && top < to[3] && bottom > to[1];
    });
  const endWord = (): void => {
    if (text === '') return;
    call.FPDFText_GetMatrix(content, first, out);
    const [a, b, c, d] = pdfium.floats as unknown as [number, number, number, number];
    call.FPDFText_GetCharOrigin(content, first, out, out + 8);
    const [x, y] = pdfium.doubles as unknown as [number, number];
    const word: Word = {
      text,
      box: toShown(...around),
      baseline: toShown(x, y, x, y)[1],
      size: Math.round(call.FPDFText_GetFontSize(content, first) * Math.hypot(c, d) * 10) / 10,
      font: wordFont,
      isRotated: Math.abs(b) > Math.abs(a) !== isTurned,
    };
    text = '';
    const { box } = word;
    const cell = line?.cells.at(-1);
    const isBeside = line && (line.isRotated || (box[1] < line.bottom && box[3] > line.top));
    if (!line || !cell || !isBeside) {
      const cells = [{ text: word.text, left: box[0], right: box[2] }];
      const [left, top, right, bottom] = box;
      line = {
        page: number,
        cells,
        left,
        top,
        right,
        bottom,
        edge: 0,
        baseline: word.baseline,
        isRotated: word.isRotated,
        font: word.font,
        size: word.size,
        runs: [toRun(word)],
      };
      lines.push(line);
      return;
    }
    const run = line.runs.find(({ font, size }) => font === word.font && size === word.size);
    if (run) run.letters += word.text.length;
    else line.runs.push(toRun(word));
    const gap = Math.max(box[0] - cell.right, cell.left - box[2]);
    const isApart = gap > wideGap * word.size || isDivided(cell.left, box);
    if (isApart && !line.isRotated) line.cells.push({ text: word.text, left: box[0], right: box[2] });
    else {
      cell.text += ` ${word.text}`;
      [cell.left, cell.right] = [Math.min(cell.left, box[0]), Math.max(cell.right, box[2])];
    }
    [line.left, line.top, line.right, line.bottom] = unite([line.left, line.top, line.right, line.bottom], box);
  };
  for (let index = 0; index < count; index += 1) {
    const code = call.FPDFText_GetUnicode(content, index);
    const isMark = code < 32 && call.FPDFText_IsGenerated(content, index) === 1;
    if (isMark || code === 32 || code === 0xa0) {
      endWord();
      if (code === 10) line = undefined;
      continue;
    }
    call.FPDFText_GetLooseCharBox(content, index, out);
    const [left, top, right, bottom] = pdfium.floats as unknown as [number, number, number, number];
    const gap = Math.max(left - around[2], around[0] - right);
    const before = object;
    const own = fontAt(index);
    const isOther = columns.length > 0 && object !== before;
    // A cell may contain a text that is too long for it.
    const isNext = isOther && isDivided(toShown(...around)[0], toShown(left, bottom, right, top));
    if (text !== '' && ((gap > narrowGap * (top - bottom) && code < 0x2e80) || isNext)) endWord();
    if (text === '') {
      [first, wordFont] = [index, own];
      around = [left, bottom, right, top];
    } else
      around = [
        Math.min(left, around[0]),
        Math.min(bottom, around[1]),
        Math.max(right, around[2]),
        Math.max(top, around[3]),
      ];
    if (code === hyphenMark) {
      text += '-';
      endWord();
      line = undefined;
      continue;
    }
    measure(own, code, (right - left) / (top - bottom));
    const isUnmapped = call.FPDFText_HasUnicodeMapError(content, index) === 1;
    text +=
      code >= 32 && code < 0xe000 && !isUnmapped ? String.fromCharCode(code) : decodeGlyph(code, isUnmapped, own.name);
  }
  endWord();
  call.FPDFText_ClosePage(content);
  for (const [index, own] of lines.entries()) {
    for (const cell of own.cells) cell.text = composeAccents(cell.text);
    const most = own.runs.reduce((a, b) => (b.letters > a.letters ? b : a));
    [own.font, own.size] = [most.font, most.size];
    const near = lines.slice(Math.max(0, index - 5), index + 6);
    const column = near.filter((other) => other.size === own.size && Math.abs(other.left - own.left) < 6 * own.size);
    own.edge = Math.max(...column.map(({ right }) => right));
  }
  return lines;
}

/** Replaces a hyphen at the end of a line whose word continues in the next one. */
const hyphenMark = 2;

const toRun = ({ font, size, text }: Word) => ({ font, size, letters: text.length });

export function unite(a: PageBox, b: PageBox): PageBox {
  return [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])];
}

/** Least number of different letters of one width in a font whose letters have one width. */
const leastLetters = 8;

function measure(font: PdfFont, letter: number, width: number): void {
  if (font.letters.size >= leastLetters || letter < 0x61 || letter > 0x7a || !(width > 0)) return;
  font.letters.add(letter);
  font.least = Math.min(font.least, width);
  font.most = Math.max(font.most, width);
  if (font.letters.size === leastLetters) font.isMonospaced ||= font.most - font.least < 0.02 * font.most;
}

function readFont(pdfium: Pdfium, address: number, page: number, fonts: Map<string, PdfFont>): PdfFont {
  const { call } = pdfium;
  const name =
    address === 0 ? '' : pdfium.text((to, size) => call.FPDFFont_GetBaseFontName(address, to, size), 'utf-8');
  // Bitmap fonts have no names.
  const key = name === '' ? `${page} ${address}` : name;
  let font = fonts.get(key);
  if (font) return font;
  const isBold = /bold|black|heavy|medi$|cmb|cmssbx|semibd|sfbx|ecbx/i.test(name);
  const isMonospaced =
    address !== 0 && ((call.FPDFFont_GetFlags(address) & 1) === 1 || /mono|courier|cmtt|consol|typewriter/i.test(name));
  font = { name, isBold, least: Infinity, most: 0, letters: new Set(), isMonospaced };
  fonts.set(key, font);
  return font;
}
