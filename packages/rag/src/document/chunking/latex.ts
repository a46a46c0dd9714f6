import { readLatexBlocks } from './latex-blocks.js';
import { packSections } from './pack-sections.js';
import type { PackOptions } from './pack-spans.js';
import { joinBareHeadings, readSections } from './sections.js';
import { createSizeLimit } from './size-limit.js';
import type { Span } from './span.js';

/**
 * The `latex` strategy: one chunk for each part, chapter, section, … down to paragraphs with a title, with the headings above
 * it. A section longer than `maxSize` is divided between paragraphs and outer environments, and inside one of them only if it
 * alone is too long.
 */
export function chunkLatex(text: string, options: PackOptions): Span[] {
  const blocks = readLatexBlocks(text);
  const sections = joinBareHeadings(text, readSections(text.length, blocks), createSizeLimit(text, options).fits);
  return packSections(text, blocks, sections, options);
}
