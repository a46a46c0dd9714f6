import type { FontWidths } from './pdf-widths.js';

/** The part of an item of `getTextContent()` that is read. Items without `str` mark content. */
export interface PdfTextItem {
  readonly str?: unknown;
  readonly dir?: unknown;
  /** Width in points of the page. */
  readonly width?: unknown;
  readonly transform?: unknown;
  readonly fontName?: unknown;
}

/** The part of `getTextContent()` that is read. */
export interface PdfTextContent {
  readonly items: readonly PdfTextItem[];
  readonly styles?: Readonly<Record<string, { readonly fontFamily?: unknown } | undefined>>;
}

/** A piece of text in one font, or several of them that touch. */
export interface PdfFragment {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  /** Position of the baseline; larger numbers are lower on the page. */
  readonly baseline: number;
  /** Size of the font in points. */
  readonly size: number;
  /** Name of the font in the file; of several pieces in several fonts, empty. Weight and slope are not known, only that fonts differ. */
  readonly font: string;
  readonly isMonospaced: boolean;
  readonly isRightToLeft: boolean;
}

/** Coordinates beyond this many points are not on a page: PDF limits pages to 14,400. */
const farthest = 50_000;
/** Items of a page that are read. Pages of maps and drawings have tens of thousands. */
export const maxItems = 200_000;

type Matrix = readonly [number, number, number, number, number, number];

/**
 * Returns the texts of a page with their places, without white space between them. Rotated text, such as the labels of an axis, comes
 * last, in the order of the file, because its lines do not run with the others.
 *
 * @param view - matrix from the coordinates of the file to those of the page as it is shown
 */
function toFragments(
  { items, styles }: PdfTextContent,
  view: readonly number[],
  widths: FontWidths,
): { fragments: PdfFragment[]; rotated: string[] } {
  const fragments: PdfFragment[] = [];
  const rotated: string[] = [];
  const matrix = isMatrix(view) ? view : identity;
  for (const { str, width, transform, fontName } of items.slice(0, maxItems)) {
    if (typeof str !== 'string' || typeof width !== 'number' || typeof fontName !== 'string') continue;
    if (!widths.isSampled(fontName) && isMatrix(transform))
      widths.add(fontName, str, width / Math.hypot(transform[0], transform[1]));
  }
  const monospaced = widths.monospacedFonts();
  for (const { str, dir, width, transform, fontName } of items.slice(0, maxItems)) {
    if (typeof str !== 'string' || str.trim() === '' || !isMatrix(transform)) continue;
    const [a, b, c, d, left, baseline] = multiply(matrix, transform);
    const size = Math.hypot(c, d);
    if (!(Math.abs(left) < farthest && Math.abs(baseline) < farthest && size > 0 && size < farthest)) continue;
    const text = clean(str);
    if (Math.abs(b) > Math.abs(a) * 0.2) rotated.push(text.trim());
    else {
      const wide = typeof width === 'number' && width >= 0 && width < farthest ? width : 0;
      const isRightToLeft = dir === 'rtl';
      const font = typeof fontName === 'string' ? fontName : '';
      const isMonospaced = styles?.[font]?.fontFamily === 'monospace' || monospaced.has(font);
      fragments.push({ text, left, right: left + wide, baseline, size, font, isMonospaced, isRightToLeft });
    }
  }
  return { fragments, rotated };
}

/** A page as `unpdf` reads it. */
export interface PdfPageContent {
  readonly content: PdfTextContent;
  /** Matrix from the coordinates of the file to those of the page as it is shown, from `getViewport()`. */
  readonly view: readonly number[];
}

/** The texts of a page. */
export interface PdfPage {
  readonly segments: readonly PdfSegment[];
  /** Rotated text. */
  readonly rotated: readonly string[];
}

/**
 * Returns what is kept of a page while the others are read: its lines take a fraction of the memory of its items.
 *
 * @param widths - of the fonts of the document
 */
export function readPage({ content, view }: PdfPageContent, widths: FontWidths): PdfPage {
  const { fragments, rotated } = toFragments(content, view, widths);
  return { segments: toRows(fragments).flatMap(toSegments), rotated };
}

const identity: Matrix = [1, 0, 0, 1, 0, 0];

function isMatrix(value: unknown): value is Matrix {
  return Array.isArray(value) && value.length >= 6 && value.slice(0, 6).every((entry) => Number.isFinite(entry));
}

function multiply([a, b, c, d, e, f]: Matrix, [g, h, i, j, k, l]: Matrix): Matrix {
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}

/** Ligatures become letters; control characters are removed. */
function clean(text: string): string {
  return text
    .replace(/[\uFB00-\uFB06]/g, (ligature) => ligature.normalize('NFKC'))
    .replace(/\p{Cc}/gu, (control) => (control === '\t' ? ' ' : ''));
}

/** Fragments on one baseline that touch, from left to right: a word, a line of a column, or a cell of a table. */
export type PdfSegment = PdfFragment;

/** Part of the font size by which the baselines of one line differ, for example of a superscript. */
const baselineTolerance = 0.45;

/** Groups what lies on one line, from top to bottom, each from left to right. */
export function toRows<T extends PdfFragment>(fragments: readonly T[]): T[][] {
  const rows: { anchor: T; parts: T[] }[] = [];
  for (const fragment of fragments.toSorted((a, b) => a.baseline - b.baseline || a.left - b.left)) {
    const row = rows.at(-1);
    const distance = row ? fragment.baseline - row.anchor.baseline : Infinity;
    const smaller = row ? Math.min(fragment.size, row.anchor.size) : 0;
    const larger = row ? Math.max(fragment.size, row.anchor.size) : 0;
    // A superscript is smaller than its line and higher; text of one size is not.
    const tolerance = smaller < larger * 0.85 ? Math.min(larger * baselineTolerance, smaller * 0.8) : smaller * 0.3;
    if (row && distance <= tolerance) {
      row.parts.push(fragment);
      if (fragment.size > row.anchor.size) row.anchor = fragment;
    } else rows.push({ anchor: fragment, parts: [fragment] });
  }
  return rows.map(({ parts }) => parts.sort((a, b) => a.left - b.left));
}

/** Part of the font size that separates words. */
const wordGap = 0.15;
/** Part of the font size that separates columns of text or cells of a table. */
const cellGap = 1.1;

/** Joins the fragments of a line, with spaces between words, and splits it at wide gaps. */
function toSegments(row: readonly PdfFragment[]): PdfSegment[] {
  const segments: PdfSegment[] = [];
  let parts: PdfFragment[] = [];
  let right = -Infinity;
  for (const fragment of row) {
    const size = Math.max(fragment.size, parts.at(-1)?.size ?? 0);
    if (parts.length > 0 && fragment.left - right > size * cellGap) {
      segments.push(joinFragments(parts));
      parts = [];
    }
    parts.push(fragment);
    right = Math.max(parts.length > 1 ? right : -Infinity, fragment.right);
  }
  if (parts.length > 0) segments.push(joinFragments(parts));
  return segments;
}

/** Joins texts of one line. */
export function joinFragments(parts: readonly PdfFragment[]): PdfSegment {
  let length = 0;
  let monospaced = 0;
  let toTheLeft = 0;
  let main = parts[0]!;
  let { font } = main;
  let right = -Infinity;
  for (const part of parts) {
    length += part.text.length;
    if (part.isMonospaced) monospaced += part.text.length;
    if (part.isRightToLeft) toTheLeft += part.text.length;
    if (part.text.length * part.size > main.text.length * main.size) main = part;
    if (part.font !== font) font = '';
    right = Math.max(right, part.right);
  }
  const isRightToLeft = toTheLeft * 2 > length;
  const ordered = isRightToLeft ? parts.toReversed() : parts;
  const texts: string[] = [];
  ordered.forEach((part, index) => {
    const previous = ordered[index - 1];
    const gap = previous ? Math.max(part.left - previous.right, previous.left - part.right) : 0;
    if (previous && gap > Math.min(part.size, previous.size) * wordGap) texts.push(' ');
    texts.push(part.text);
  });
  const { baseline, size } = main;
  const joined = texts.join('');
  const isMonospaced = monospaced * 2 > length;
  const text = isMonospaced ? joined.trimEnd() : joined.replace(/\s+/g, ' ').trim();
  return { text, left: parts[0]!.left, right, baseline, size, font, isMonospaced, isRightToLeft };
}
