import { createSizeLimit, type PackOptions } from './pack-spans.js';
import { endOfWhiteSpace, skipWhiteSpace, startOfWhiteSpace } from './text-boundary.js';

/**
 * Kind of a block, where it matters to a cut. A `term` stays with the next block. Overlap begins neither in `code`, nor in a row, whose
 * first block is a `row` and each further one a `cell`.
 */
export type BlockKind = 'item' | 'term' | 'code' | 'row' | 'cell';

/** A part of a text that stays in one chunk if it fits. It ends where the next block starts. */
export interface Block {
  readonly start: number;
  readonly heading: Heading | undefined;
  /** Number of blocks around this one. They are cut here only if they do not fit as a whole. */
  readonly depth: number;
  readonly kind?: BlockKind | undefined;
}

export interface Heading {
  /** 1 is the outermost. */
  readonly level: number;
  readonly title: string;
  /** Start of the text under the heading. */
  readonly end: number;
}

/** A heading and the text up to the next one. */
export interface Section {
  readonly start: number;
  readonly end: number;
  /** Headings above the text, its own included. Empty before the first heading. */
  readonly path: readonly Heading[];
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** Splits a text at its headings. A heading without a title begins no section. */
export function readSections(text: string, blocks: readonly Block[]): Section[] {
  const sections: Section[] = [];
  let start = 0;
  const open: Heading[] = [];
  for (const block of blocks) {
    const { heading } = block;
    if (!heading?.title) continue;
    if (block.start > 0) sections.push({ start, end: block.start, path: open.slice() });
    while (open.length > 0 && !isAbove(open[open.length - 1]!, heading)) open.pop();
    open.push(heading);
    start = block.start;
  }
  sections.push({ start, end: text.length, path: open });
  return sections;
}

/** A table of contents of any level is above nothing. */
const contentsTitle =
  /^(?:table of contents|contents|toc|inhalt|inhaltsverzeichnis|table des matières|sommaire|contenido|índice|tabla de contenidos|indice|sommario|inhoud|inhoudsopgave|spis treści|содержание|оглавление|目次|目录|目錄|차례|목차)\s*:?$/i;

function isAbove({ level, title }: Heading, below: Heading): boolean {
  return level < below.level && !contentsTitle.test(title);
}

export interface SectionOptions extends PackOptions {
  /** Levels of the headings that begin a section, and the metadata keys of their titles. Default: all headings, without keys. */
  readonly headers?: ReadonlyMap<number, string> | undefined;
  /** With `headers`, whether sections start behind their heading. */
  readonly stripHeaders?: boolean;
}

/** Splits a text at its headings. Without `headers`, sections are joined, see {@link joinSections}. */
export function findSections(
  text: string,
  blocks: readonly Block[],
  { headers, stripHeaders, ...options }: SectionOptions,
): readonly Section[] {
  if (!headers) return joinSections(text, readSections(text, blocks), options);
  const labeled = blocks.filter(({ heading }) => heading && headers.has(heading.level));
  return readSections(text, labeled).map(({ start, end, path }) => ({
    start: (stripHeaders ? path.at(-1)?.end : undefined) ?? start,
    end,
    path,
    metadata: Object.fromEntries(path.map(({ level, title }) => [headers.get(level) as string, title])),
  }));
}

/**
 * Joins headings without text of their own to the next section, and sections below `minSize` to a neighbor under the same heading, if both
 * fit. A short text before the first heading joins the section behind it. A section has the headings above all of its text under headings.
 */
function joinSections(text: string, sections: readonly Section[], options: PackOptions): readonly Section[] {
  const filled = joinBareHeadings(text, sections);
  if (options.minSize === 0) return filled;
  const { fits } = createSizeLimit(text, options);
  const small = createSizeLimit(text, { ...options, maxSize: options.minSize - 1 });
  const isSmall = ({ start, end }: Section): boolean => {
    const first = endOfWhiteSpace(text, start, end);
    return small.fits(first, startOfWhiteSpace(text, first, end));
  };
  const joined: JoinedSection[] = [];
  const joinLast = (): void => {
    const last = joined.pop();
    const before = joined[joined.length - 1];
    if (last && before && isSmall(last) && areNeighbors(before, last) && fits(before.start, last.end))
      joined[joined.length - 1] = unite(before, last);
    else if (last) joined.push(last);
  };
  for (const { start, end, path } of filled) {
    const section = { start, end, path, first: path, last: path };
    const before = joined[joined.length - 1];
    if (before && isSmall(before)) {
      // A short text before the first heading stays with it, as a heading without text does.
      if (before.last.length === 0 || (areNeighbors(before, section) && fits(before.start, end))) {
        joined[joined.length - 1] = unite(before, section);
        continue;
      }
      joinLast();
    }
    joined.push(section);
  }
  joinLast();
  return joined;
}

/** Joins headings without text of their own to the next section, or the last ones to the section before them. */
export function joinBareHeadings(text: string, sections: readonly Section[]): Section[] {
  const joined: Section[] = [];
  let bareStart: number | undefined;
  for (const section of sections) {
    const { start, end, path } = section;
    const heading = path[path.length - 1];
    if (heading && skipWhiteSpace(text, heading.end, end) === end) bareStart ??= start;
    else {
      joined.push(bareStart === undefined ? section : { ...section, start: bareStart });
      bareStart = undefined;
    }
  }
  if (bareStart === undefined) return joined;
  const last = joined.pop() ?? { ...sections.at(-1)!, start: bareStart };
  return [...joined, { ...last, end: sections.at(-1)!.end }];
}

interface JoinedSection extends Section {
  /** Headings of the first and of the last of the sections that were joined. */
  readonly first: readonly Heading[];
  readonly last: readonly Heading[];
}

/** Whether two sections follow each other under the same heading, or the second is right below the heading of the first. */
function areNeighbors(one: JoinedSection, other: JoinedSection): boolean {
  return [one.last, one.path].some((path) => areSiblings(path, other.first) || areSiblings(path, other.path));
}

function areSiblings(one: readonly Heading[], other: readonly Heading[]): boolean {
  // The titles that both must have in common.
  const depth = Math.max(one.length - 1, other.length - 1, 1);
  return one.length >= depth && other.length >= depth && commonPath(one, other).length >= depth;
}

function unite(one: JoinedSection, other: JoinedSection): JoinedSection {
  const path = one.last.length === 0 ? other.path : commonPath(one.path, other.path);
  return { start: one.start, end: other.end, path, first: one.first, last: other.last };
}

export function commonPath(one: readonly Heading[], other: readonly Heading[]): readonly Heading[] {
  const length = one.findIndex((heading, index) => heading !== other[index]);
  return length === -1 ? one : one.slice(0, length);
}

/** Splits sections, which are in order, at positions in ascending order. */
export function splitSections(sections: readonly Section[], positions: readonly number[]): Section[] {
  let next = 0;
  return sections.flatMap((section) => {
    const parts: Section[] = [];
    for (let { start } = section; start < section.end; start = parts.at(-1)!.end) {
      while (positions[next]! <= start) next++;
      parts.push({ ...section, start, end: Math.min(section.end, positions[next] ?? section.end) });
    }
    return parts;
  });
}
