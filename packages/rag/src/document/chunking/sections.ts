import { createPacker, createSizeLimit, type FindCut, type PackOptions, type Span } from './pack-spans.js';
import { findSeparatorCut } from './separator-cut.js';
import { lastAtOrBefore, skipWhiteSpace } from './text-boundary.js';

/** A part of a text that stays in one chunk if it fits. It ends where the next block starts. */
export interface Block {
  readonly start: number;
  /** Present when the block is a heading. */
  readonly heading: Heading | undefined;
  /** Number of blocks around this one. They are cut here only if they do not fit as a whole. */
  readonly depth: number;
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
    while (open.length > 0 && open[open.length - 1]!.level >= heading.level) open.pop();
    open.push(heading);
    start = block.start;
  }
  sections.push({ start, end: text.length, path: open });
  return sections;
}

export interface SectionOptions extends PackOptions {
  /** Levels of the headings that begin a section, and the metadata keys of their titles. Default: all headings, without keys. */
  readonly headers?: ReadonlyMap<number, string> | undefined;
  /** With `headers`, whether sections start behind their heading. */
  readonly stripHeaders?: boolean;
}

/** Splits a text at its headings. Without `headers`, a heading without text of its own joins its first subsection, if both fit. */
export function findSections(
  text: string,
  blocks: readonly Block[],
  { headers, stripHeaders, ...options }: SectionOptions,
): Section[] {
  if (!headers) return joinBareHeadings(text, readSections(text, blocks), options);
  const labeled = blocks.filter(({ heading }) => heading && headers.has(heading.level));
  return readSections(text, labeled).map(({ start, end, path }) => ({
    start: (stripHeaders ? path.at(-1)?.end : undefined) ?? start,
    end,
    path,
    metadata: Object.fromEntries(path.map(({ level, title }) => [headers.get(level) as string, title])),
  }));
}

function joinBareHeadings(text: string, sections: readonly Section[], options: PackOptions): Section[] {
  const { fits } = createSizeLimit(text, options);
  const joined: Section[] = [];
  for (const section of sections) {
    const above = joined[joined.length - 1];
    if (above && isBareAbove(text, above, section) && fits(above.start, section.end))
      joined[joined.length - 1] = { ...section, start: above.start };
    else joined.push(section);
  }
  return joined;
}

/** Whether a section is a heading without text, and the next one its subsection. */
function isBareAbove(text: string, { path, end }: Section, { path: below }: Section): boolean {
  const heading = path[path.length - 1];
  return (
    heading !== undefined &&
    below[below.length - 1]!.level > heading.level &&
    skipWhiteSpace(text, heading.end, end) === end
  );
}

/** Makes a section of each line. */
export function splitAtLines(text: string, sections: readonly Section[]): Section[] {
  return splitSections(
    sections,
    Array.from(text.matchAll(/\n/g), ({ index }) => index + 1),
  );
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

/** Splits sections that are too long between blocks, and inside a block only if the block alone is too long. */
export function packSections(
  text: string,
  blocks: readonly Block[],
  sections: readonly Section[],
  options: PackOptions,
): Span[] {
  const pack = createPacker(text, options, findBlockCut(text, blocks, options));
  const spans: Span[] = [];
  for (const section of sections) {
    const { path, metadata } = section;
    const headings = path.length > 0 ? path.map(({ title }) => title) : undefined;
    pack(section.start, section.end, (start, end) => spans.push({ start, end, headings, metadata }));
  }
  return spans;
}

/** Deeper blocks are treated as blocks of this depth. */
const maxDepth = 3;

/** Cuts between blocks; inside a block that is too long, between the blocks in it; otherwise after a line, otherwise after a word. */
function findBlockCut(text: string, blocks: readonly Block[], options: PackOptions): FindCut {
  /** For each depth of blocks, made at its first use. */
  const finders: FindCut[] = [];
  const betweenLines = findSeparatorCut(text, { ...options, separators: ['\n', ' ', ''] });
  let deepest = 0;
  for (const { depth } of blocks) deepest = Math.max(deepest, depth);
  return (window) => {
    for (let most = 0; most <= Math.min(deepest, maxDepth); most++) {
      finders[most] ??= cutBetween(
        text,
        blocks.filter(({ depth }) => depth <= most || most === maxDepth),
        options,
      );
      const cut = finders[most]!(window);
      if (cut !== undefined) return cut;
    }
    return betweenLines(window);
  };
}

/**
 * Cuts at the start of a block, if that leaves a chunk of a reasonable size, or keeps together the block that the limit would cut.
 * A heading stays with the block below it, unless that block fits only alone.
 */
function cutBetween(text: string, blocks: readonly Block[], options: PackOptions): FindCut {
  const limit = createSizeLimit(text, options);
  const starts = blocks.map(({ start }) => start);
  const isWhole = (at: number): boolean => limit.fits(starts[at]!, starts[at + 1] ?? text.length);
  return ({ first, preferred, last }) => {
    const latest = lastAtOrBefore(starts, last);
    let at = latest;
    while (starts[at]! >= first && blocks[at - 1]?.heading) at--;
    if (starts[at]! >= first && (starts[at]! >= preferred || isWhole(at))) return starts[at];
    return starts[latest]! >= first && isWhole(latest) ? starts[latest] : undefined;
  };
}
