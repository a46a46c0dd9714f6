import { packSpans, type FindCut, type PackOptions } from './pack-spans.js';
import type { Block, Section } from './sections.js';
import { findSeparatorCut } from './separator-cut.js';
import { createSizeLimit } from './size-limit.js';
import type { Span } from './span.js';

/** Divides sections that are too long between blocks, and inside a block only if the block alone is too long. */
export function packSections(
  text: string,
  blocks: readonly Block[],
  sections: readonly Section[],
  options: PackOptions,
): Span[] {
  const findCut = findBlockCut(text, blocks, options);
  return sections.flatMap(({ start, end, headings, metadata }) =>
    packSpans(text, start, end, options, findCut).map((span) => ({
      start: span.start,
      end: span.end,
      ...(headings.length > 0 && { headings }),
      ...(metadata && { metadata }),
    })),
  );
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

/**
 * Cuts at the start of a block, if that leaves a chunk of a reasonable size or saves the block that the limit would cut; else
 * after a line, else after a word. Never between a heading and what follows it.
 */
function findBlockCut(text: string, blocks: readonly Block[], options: PackOptions): FindCut {
  const { stripWhitespace } = options;
  const otherwise = findSeparatorCut(text, { separators: withinBlock, separatorPosition: 'end', stripWhitespace });
  const limit = createSizeLimit(text, options);
  // Cuts only move forward, so the blocks are walked once; only a chunk that turns out too long walks back.
  let next = 0;
  return (window) => {
    while (next > 0 && blocks[next - 1]!.start > window.last) next--;
    let best: number | undefined;
    for (; next < blocks.length && blocks[next]!.start <= window.last; next++);
    for (let at = next - 1; at >= 0 && blocks[at]!.start >= window.first && best === undefined; at--) {
      if (!blocks[at - 1]?.heading) best = at;
    }
    if (best === undefined) return otherwise(window);
    const { start } = blocks[best]!;
    if (start >= window.preferred) return start;
    const end = blocks[best + 1]?.start ?? text.length;
    return limit.fits(start, end) ? start : otherwise(window);
  };
}
