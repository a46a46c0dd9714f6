import { listItem, type PdfBlock, type PdfTextBlock } from './pdf-blocks.js';
import { titleKey, type PdfOutline } from './pdf-outline.js';
import { roundSize, type PdfStyle } from './pdf-style.js';

/** A block that may be a heading, with what is around it. */
export interface HeadingCandidate {
  readonly block: PdfTextBlock;
  /** Lines as one text. */
  readonly text: string;
  /** Index of the page. */
  readonly page: number;
  readonly next: PdfBlock | undefined;
}

const longestHeading = 200;
/** Length of a heading that has the size of the text. */
const longestTitle = 100;
const mostLines = 2;
const maxLevel = 6;
/** Blocks that look like headings, below which their font or their numbers tell nothing. */
const leastHeadings = 2;
const leastNumbered = 3;
/** Part of the numbered lines that are in order. */
const leastOrdered = 0.9;

const numbered = /^(\d{1,3}(?:\.\d{1,3}){1,4})\.?\s+\p{Lu}/u;
/** Letters in a drawing. */
const labels = /^(?:\w ){0,20}\w$/;
const chapterNumber = /^(\d{1,3}(?:\.\d{1,3}){0,4})\.?\s+\p{L}/u;

/**
 * Returns the levels of headings. They are those of the outline; or larger than the text; or, below both, short lines above a paragraph
 * that are in a separate font, or numbered (“3.2 Title”) where there is no outline.
 */
export function findHeadings(
  candidates: readonly HeadingCandidate[],
  style: PdfStyle,
  outline: PdfOutline,
): Map<HeadingCandidate, number> {
  const levels = new Map<HeadingCandidate, number>();
  /** Blocks that are titles, the last first: a title may have another below it. */
  const headed = new Set<PdfBlock>();
  const titled: HeadingCandidate[] = [];
  let deepest = 0;
  for (const candidate of candidates.toReversed()) {
    const { block, text, page } = candidate;
    if (text.length > longestHeading || !/\p{L}/u.test(text) || labels.test(text)) continue;
    const titles = outline.get(page);
    const level = titles?.get(titleKey(text)) ?? style.headings.indexOf(roundSize(block.size)) + 1;
    if (level > 0) {
      levels.set(candidate, Math.min(maxLevel, level));
      deepest = Math.max(deepest, level);
      headed.add(block);
    } else if (isTitle(candidate, style, headed)) {
      titled.push(candidate);
      headed.add(block);
    }
  }
  titled.reverse();
  const distinct = titled.filter(({ block, next }) => {
    const isSame = next?.kind === 'text' && next.font === block.font && !headed.has(next);
    return block.font !== '' && block.font !== style.font && !isSame;
  });
  const fonts = headingFonts(distinct);
  const marked = distinct.filter(({ block }) => fonts.includes(block.font));
  const depths = marked.flatMap(({ text }) => depthOf(text) ?? []);
  const least = Math.min(...depths);
  for (const candidate of marked) {
    const depth = depthOf(candidate.text);
    const below = depth === undefined ? fonts.indexOf(candidate.block.font) : depth - least;
    levels.set(candidate, Math.min(maxLevel, deepest + 1 + below));
  }
  if (outline.size > 0) return levels;
  const plain = titled.filter((candidate) => !levels.has(candidate) && numbered.test(candidate.text));
  if (plain.length < leastNumbered || !areInOrder(plain)) return levels;
  for (const candidate of plain) {
    const depth = depthOf(candidate.text)!;
    const from = Number.isFinite(least) ? least : Math.min(...plain.map(({ text }) => depthOf(text)!));
    levels.set(candidate, Math.min(maxLevel, deepest + 1 + Math.max(0, depth - from)));
  }
  return levels;
}

/** Whether a block has the form of a title, and text below it that is not indented, as a definition is below its term. */
function isTitle({ block, text, next }: HeadingCandidate, style: PdfStyle, headed: ReadonlySet<PdfBlock>): boolean {
  if (next?.kind !== 'text' || block.lines.length > mostLines || text.length > longestTitle) return false;
  if (block.size < style.body * 0.95 || !/\p{L}{3}/u.test(text)) return false;
  if (!/^["“(]?[\p{Lu}\d]/u.test(text) || /[.,;:!?]$/.test(text)) return false;
  if (listItem.test(text) && !chapterNumber.test(text)) return false;
  if (headed.has(next)) return true;
  const isText = next.lines.length > 1 || next.fill > 0.6;
  const isIndented = next.box[0] > block.box[0] + block.size * 0.8;
  return isText && !isIndented;
}

/** Returns the fonts in which several titles are, the first in the document first. */
function headingFonts(titled: readonly HeadingCandidate[]): string[] {
  const counts = new Map<string, number>();
  for (const { block } of titled) counts.set(block.font, (counts.get(block.font) ?? 0) + 1);
  return [...counts].flatMap(([font, count]) => (count >= leastHeadings ? [font] : []));
}

function depthOf(text: string): number | undefined {
  return chapterNumber.exec(text)?.[1]?.split('.').length;
}

function areInOrder(candidates: readonly HeadingCandidate[]): boolean {
  const numbers = candidates.map(({ text }) => numbered.exec(text)![1]!.split('.').map(Number));
  const ordered = numbers.filter((number, index) => index === 0 || compare(numbers[index - 1]!, number) < 0);
  return ordered.length >= numbers.length * leastOrdered;
}

function compare(one: readonly number[], other: readonly number[]): number {
  for (let index = 0; index < Math.max(one.length, other.length); index += 1) {
    const difference = (one[index] ?? -1) - (other[index] ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}
