import { createPacker, type FindCut, type PackOptions, createSizeLimit } from './pack-spans.js';
import { findSeparatorCut } from './separator-cut.js';
import type { Span } from './span.js';
import { skipWhiteSpace } from './text-boundary.js';

/** A part of a text that stays in one chunk if it fits. It ends where the next block starts. */
export interface Block {
  readonly start: number;
  /** Present when the block is a heading. */
  readonly heading?: Heading;
  /** Number of blocks around this one. They are cut here only if they do not fit as a whole. Default 0. */
  readonly depth?: number;
}

export interface Heading {
  /** 1 is the outermost. */
  readonly level: number;
  readonly title: string;
  /** Start of the text under the heading. */
  readonly end: number;
}

/** A heading and the text up to the next one. */
export interface Section extends Omit<Span, 'text'> {
  readonly headings: readonly string[];
  /** Absent before the first heading. */
  readonly heading?: Heading;
  /** Headings above this one, itself included. */
  readonly path: readonly Heading[];
}

/** Splits a text of this length at its headings. A heading without a title begins no section. */
export function readSections(length: number, blocks: readonly Block[]): Section[] {
  const sections: Section[] = [];
  let current: Omit<Section, 'end'> = { start: 0, headings: [], path: [] };
  for (const { start, heading } of blocks) {
    if (!heading?.title) continue;
    if (current.heading || start > 0) sections.push({ ...current, end: start });
    const path = [...current.path.filter(({ level }) => level < heading.level), heading];
    const headings = path.map(({ title }) => title);
    current = { start, headings, path, heading };
  }
  sections.push({ ...current, end: length });
  return sections;
}

/** Joins a heading without text of its own with its first subsection, if both fit. */
export function joinBareHeadings(
  text: string,
  sections: readonly Section[],
  fits: (start: number, end: number) => boolean,
): Section[] {
  const joined: Section[] = [];
  for (const section of sections) {
    const above = joined.at(-1);
    const isSubsection = above?.heading && section.heading && section.heading.level > above.heading.level;
    if (isSubsection && isBare(text, above) && fits(above.start, section.end)) {
      joined[joined.length - 1] = { ...section, start: above.start };
    } else joined.push(section);
  }
  return joined;
}

function isBare(text: string, { heading, end }: Section): boolean {
  return heading !== undefined && skipWhiteSpace(text, heading.end, end) === end;
}

/** Returns the sections of the headings with a metadata key, without the headings themselves on request. */
export function labelSections(
  text: string,
  blocks: readonly Block[],
  { headers, stripHeaders }: { headers: ReadonlyMap<number, string>; stripHeaders: boolean },
): Section[] {
  const labeled = blocks.filter(({ heading }) => heading && headers.has(heading.level));
  return readSections(text.length, labeled).map((section) => ({
    ...section,
    ...(stripHeaders && section.heading && { start: section.heading.end }),
    metadata: Object.fromEntries(section.path.map(({ level, title }) => [headers.get(level) as string, title])),
  }));
}

/** Splits sections that are too long between blocks, and inside a block only if the block alone is too long. */
export function packSections(
  text: string,
  blocks: readonly Block[],
  sections: readonly Section[],
  options: PackOptions,
): Span[] {
  const pack = createPacker(text, options, findBlockCut(text, blocks, options));
  const spans: Span[] = [];
  for (const { start, end, headings, metadata } of sections) {
    const facts = { ...(headings.length > 0 && { headings }), ...(metadata && { metadata }) };
    for (const span of pack(start, end)) spans.push(headings.length > 0 || metadata ? { ...span, ...facts } : span);
  }
  return spans;
}

/** Makes a section of each line. */
export function divideAtLines(text: string, sections: readonly Section[]): Section[] {
  return sections.flatMap((section) => {
    const lines: Section[] = [];
    for (let start = section.start; start < section.end;) {
      const newline = text.indexOf('\n', start);
      const end = newline === -1 ? section.end : Math.min(section.end, newline + 1);
      lines.push({ ...section, start, end });
      start = end;
    }
    return lines;
  });
}

const withinBlock = ['\n', ' ', ''];

/** Deeper blocks are treated as blocks of this depth. */
const maxDepth = 3;

/** Cuts between blocks; inside a block that is too long, between the blocks in it; otherwise after a line, otherwise after a word. */
function findBlockCut(text: string, blocks: readonly Block[], options: PackOptions): FindCut {
  const depths = [...new Set(blocks.map(({ depth = 0 }) => Math.min(depth, maxDepth)))].sort();
  const finders = depths.map((most) =>
    cutBetween(
      text,
      blocks.filter(({ depth = 0 }) => Math.min(depth, maxDepth) <= most),
      options,
    ),
  );
  const { stripWhitespace, separatorPosition } = options;
  finders.push(findSeparatorCut(text, { separators: withinBlock, separatorPosition, stripWhitespace }));
  return (window) => {
    for (const find of finders) {
      const cut = find(window);
      if (cut !== undefined) return cut;
    }
    return undefined;
  };
}

/**
 * Cuts at the start of a block, if that leaves a chunk of a reasonable size, or keeps together the block that the limit would cut.
 * A heading stays with the block below it, unless that block fits only alone.
 */
function cutBetween(text: string, blocks: readonly Block[], options: PackOptions): FindCut {
  const limit = createSizeLimit(text, options);
  // Cuts only move forward, so the blocks are walked once; only a chunk that turns out too long walks back.
  let next = 0;
  return (window) => {
    const { first, preferred, last } = window;
    while (next > 0 && blocks[next - 1]!.start > last) next--;
    while (next < blocks.length && blocks[next]!.start <= last) next++;
    const isWhole = (at: number): boolean => limit.fits(blocks[at]!.start, blocks[at + 1]?.start ?? text.length);
    for (let at = next - 1; at >= 0 && blocks[at]!.start >= first; at--) {
      const { start } = blocks[at]!;
      if (blocks[at - 1]?.heading) continue;
      if (start >= preferred || isWhole(at)) return start;
      break;
    }
    const cutBlock = next - 1;
    return cutBlock >= 0 && blocks[cutBlock]!.start >= first && isWhole(cutBlock) ? blocks[cutBlock]!.start : undefined;
  };
}
