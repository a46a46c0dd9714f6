import type { PdfSegment } from './pdf-fragments.js';
import { toRows } from './pdf-fragments.js';

/** Least width of the space between two columns of text, in points. */
const gutterWidth = 6;
/** Least number of lines of a column. */
const minLines = 4;
/** Part of a column that its lines fill, at the median. Cells of a table fill less. */
const minFill = 0.5;
/** Mean number of characters of its lines. */
const minLetters = 15;
/** Part of the lines that a column has at least, and that may cross the space between two columns. */
const minShare = 0.12;
const maxCrossing = 0.35;
/** Strips that are tried as the space between columns. */
const maxGutters = 5;
/** Resolution at which the width of a page is examined. */
const maxBins = 4_000;
/** Columns within columns. Pages of newspapers have up to eight next to each other. */
const maxDepth = 4;

/**
 * Splits a page into the parts that are read one after another: columns of text from left to right, and the lines above, between and
 * below that cross them. Each part has its rows from top to bottom. The time is linear in the number of segments and the width of the
 * page.
 */
export function splitRegions(segments: readonly PdfSegment[], depth = 0): PdfSegment[][][] {
  const rows = toRows(segments);
  if (depth >= maxDepth) return [rows];
  for (const gutter of findGutters(segments)) {
    const regions = splitAt(rows, gutter, depth);
    if (regions) return regions;
  }
  return [rows];
}

/** Returns the parts on both sides of a gutter and the lines between them, or `undefined` where there are no columns next to it. */
function splitAt(rows: PdfSegment[][], gutter: number, depth: number): PdfSegment[][][] | undefined {
  let isSplit = false;
  const regions: PdfSegment[][][] = [];
  let band: PdfSegment[] = [];
  let crossing: PdfSegment[][] = [];
  const endBand = (): void => {
    const left = band.filter((segment) => segment.right <= gutter);
    const right = band.filter((segment) => segment.right > gutter);
    if (areColumns(left, right)) {
      isSplit = true;
      if (crossing.length > 0) regions.push(crossing);
      crossing = [];
      regions.push(...splitRegions(left, depth + 1), ...splitRegions(right, depth + 1));
    } else crossing.push(...toRows(band));
    band = [];
  };
  for (const row of rows) {
    if (row.every(({ left, right }) => right <= gutter || left >= gutter)) band.push(...row);
    else {
      endBand();
      crossing.push(row);
    }
  }
  endBand();
  if (crossing.length > 0) regions.push(crossing);
  return isSplit ? regions : undefined;
}

/**
 * Whether segments on both sides of a gutter are lines of text, each side read to its end before the other. Prose next to something else
 * is a column too, unless their lines are at the same heights, as the cells of a table do.
 */
function areColumns(left: readonly PdfSegment[], right: readonly PdfSegment[]): boolean {
  const sides = [left, right].map(describeSide);
  if (sides.some(({ lines }) => lines.length < minLines)) return false;
  if (sides.every(({ isText }) => isText)) return true;
  if (!sides.some(({ isText, lines }) => isText && lines.length >= 3 * minLines)) return false;
  const [shorter, longer] = sides.toSorted((a, b) => a.lines.length - b.lines.length) as [Side, Side];
  // The lines above a cell are the last of the cell above it, and end anywhere.
  let above = -1;
  let cells = 0;
  for (const { baseline } of shorter.lines) {
    while ((longer.lines[above + 1]?.baseline ?? Infinity) < baseline - 1) above++;
    const isAligned = Math.abs((longer.lines[above + 1]?.baseline ?? Infinity) - baseline) <= 1;
    if (isAligned && (longer.lines[above]?.fill ?? 0) < 0.85) cells += 1;
  }
  return cells < shorter.lines.length * 0.5;
}

interface Side {
  /** From top to bottom. `fill` is the part of the width that has text. */
  readonly lines: readonly { readonly baseline: number; readonly fill: number }[];
  readonly isText: boolean;
}

function describeSide(side: readonly PdfSegment[]): Side {
  const from = side.reduce((least, segment) => Math.min(least, segment.left), Infinity);
  const to = side.reduce((most, segment) => Math.max(most, segment.right), -Infinity);
  const lines = toRows(side).map((row) => ({
    baseline: row[0]!.baseline,
    fill: row.reduce((sum, segment) => sum + segment.right - segment.left, 0) / (to - from),
  }));
  const fills = lines.map(({ fill }) => fill).toSorted((a, b) => a - b);
  const letters = side.reduce((sum, { text }) => sum + text.length, 0);
  return { lines, isText: fills[fills.length >> 1]! >= minFill && letters / lines.length >= minLetters };
}

/** Returns the middles of vertical strips with text on both sides, those that the fewest lines cross first. */
function findGutters(segments: readonly PdfSegment[]): number[] {
  if (segments.length < 2 * minLines) return [];
  const from = segments.reduce((least, { left }) => Math.min(least, left), Infinity);
  const to = segments.reduce((most, { right }) => Math.max(most, right), -Infinity);
  const width = Math.min(maxBins, Math.ceil(to - from));
  if (width < 10 * gutterWidth) return [];
  const toBin = (x: number): number => Math.max(0, Math.min(width, Math.round(((x - from) * width) / (to - from))));
  // Differences between neighboring bins: segments that cover a bin or touch it, that end before it, that start behind it.
  const covers = new Int32Array(width + 2);
  const ends = new Int32Array(width + 2);
  const starts = new Int32Array(width + 2);
  for (const { left, right } of segments) {
    covers[toBin(left - gutterWidth / 2)]! += 1;
    covers[toBin(right + gutterWidth / 2) + 1]! -= 1;
    ends[toBin(right)]! += 1;
    starts[toBin(left)]! += 1;
  }
  const strips: { crossed: number; start: number; end: number }[] = [];
  let covered = 0;
  let before = 0;
  let behind = segments.length;
  for (let bin = 0; bin < width; bin++) {
    covered += covers[bin]!;
    before += ends[bin]!;
    behind -= starts[bin]!;
    const isEdge = Math.min(before, behind) < Math.max(minLines, minShare * segments.length);
    if (isEdge || covered > maxCrossing * segments.length) continue;
    const last = strips.at(-1);
    if (last?.end !== bin || covered < last.crossed) strips.push({ crossed: covered, start: bin, end: bin + 1 });
    else if (covered === last.crossed) last.end = bin + 1;
  }
  return strips
    .toSorted((a, b) => a.crossed - b.crossed || b.end - b.start - (a.end - a.start))
    .slice(0, maxGutters)
    .map(({ start, end }) => from + (((start + end) / 2) * (to - from)) / width);
}
