import { readMarkdownBlocks, type Block, type Heading } from './markdown-blocks.js';
import { packSpans, type FindCut, type PackOptions } from './pack-spans.js';
import { findSeparatorCut } from './separator-cut.js';
import type { Span } from './span.js';
import { skipWhiteSpace } from './trim-span.js';

/**
 * The `markdown` strategy: one chunk for each section, with the headings above it.
 *
 * Sections are never joined, because a chunk with two subjects is found for neither; the one exception is a heading without
 * text of its own, which goes with its first subsection. A section longer than `maxSize` is divided between blocks (paragraphs,
 * fences, tables, list items), and inside a block only if the block alone is too long.
 */
export function chunkMarkdown(text: string, options: PackOptions): Span[] {
  const blocks = readMarkdownBlocks(text);
  const findCut = findBlockCut(text, blocks, options);
  const spans: Span[] = [];
  for (const { start, end, headings } of joinBareHeadings(text, readSections(text, blocks), options.maxSize)) {
    for (const span of packSpans(text, start, end, options, findCut)) {
      spans.push(headings.length > 0 ? { ...span, headings } : span);
    }
  }
  return spans;
}

interface Section {
  start: number;
  end: number;
  headings: readonly string[];
  /** Absent before the first heading. */
  heading?: Heading;
}

function readSections(text: string, blocks: readonly Block[]): Section[] {
  const sections: Section[] = [{ start: 0, end: text.length, headings: [] }];
  const path: Heading[] = [];
  for (const { start, heading } of blocks) {
    if (!heading) continue;
    while ((path.at(-1)?.level ?? 0) >= heading.level) path.pop();
    path.push(heading);
    sections.at(-1)!.end = start;
    const headings = path.map(({ title }) => title).filter((title) => title !== '');
    sections.push({ start, end: text.length, headings, heading });
  }
  return sections;
}

function joinBareHeadings(text: string, sections: readonly Section[], maxSize: number): Section[] {
  const joined: Section[] = [];
  for (const section of sections) {
    const above = joined.at(-1);
    const isSubsection = above?.heading && section.heading && section.heading.level > above.heading.level;
    if (isSubsection && isBare(text, above) && section.end - above.start <= maxSize) {
      joined[joined.length - 1] = { ...section, start: above.start };
    } else joined.push(section);
  }
  return joined;
}

function isBare(text: string, { heading, end }: Section): boolean {
  return heading !== undefined && skipWhiteSpace(text, heading.end, end) === end;
}

const withinBlock = ['\n', ' ', ''];

/**
 * Cuts at the start of a block, if that leaves a chunk of a reasonable size or saves the block that the limit would cut; else
 * after a line, else after a word. Never between a heading and what follows it.
 */
function findBlockCut(text: string, blocks: readonly Block[], { maxSize, stripWhitespace }: PackOptions): FindCut {
  const otherwise = findSeparatorCut(text, { separators: withinBlock, separatorPosition: 'end', stripWhitespace });
  // Cuts only move forward, so the blocks are walked once.
  let next = 0;
  return (window) => {
    let best: number | undefined;
    for (; next < blocks.length && blocks[next]!.start <= window.last; next++) {
      if (blocks[next]!.start >= window.first && !blocks[next - 1]?.heading) best = next;
    }
    if (best === undefined) return otherwise(window);
    const { start } = blocks[best]!;
    const end = blocks[best + 1]?.start ?? text.length;
    return start >= window.preferred || end - start <= maxSize ? start : otherwise(window);
  };
}
