import type { MarkdownOptions } from './parse-options.js';
import { readMarkdownBlocks } from './markdown-blocks.js';
import { divideAtLines, packSections } from './pack-sections.js';
import { joinBareHeadings, labelSections, readSections } from './sections.js';
import { createSizeLimit } from './size-limit.js';
import type { Span } from './span.js';

/**
 * The `markdown` strategy: one chunk for each section, with the headings above it.
 *
 * Sections are never joined, because a chunk with two subjects is found for neither; the one exception is a heading without
 * text of its own, which goes with its first subsection. A section longer than `maxSize` is divided between blocks (paragraphs,
 * fences, tables, list items), and inside a block only if the block alone is too long. With `headers`, only those headings begin
 * a section.
 */
export function chunkMarkdown(text: string, options: MarkdownOptions): Span[] {
  const { headers, stripHeaders, returnEachLine } = options;
  const blocks = readMarkdownBlocks(text);
  const sections = headers
    ? labelSections(text, blocks, { headers, stripHeaders })
    : joinBareHeadings(text, readSections(text.length, blocks), createSizeLimit(text, options).fits);
  return packSections(text, blocks, returnEachLine ? divideAtLines(text, sections) : sections, options);
}
