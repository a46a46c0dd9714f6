import { defaultMinSize, toPackOptions, type MinSizeOptions } from './chunk-options.js';
import { firstMarkedLevel, readMarkdownBlocks } from './markdown-blocks.js';
import type { Chunker } from './pack-spans.js';
import { packSections } from './pack-sections.js';
import { findSections, splitSections } from './sections.js';

/** Options of the strategy `markdown`. */
export interface MarkdownChunkOptions extends MinSizeOptions {
  strategy?: 'markdown';
  /**
   * Headings that begin a chunk, and the metadata key of their titles: `[['#', 'title'], ['##', 'section']]`. Other marks, such as
   * `'!!!'`, are headings below `######`, in the order of the list. Default: all headings, without keys.
   */
  headers?: readonly (readonly [mark: string, key: string])[];
  /** With `headers`, whether headings are removed from the text. Their titles are in the metadata. Default `true`. */
  stripHeaders?: boolean;
  /** Whether each line becomes a chunk. Default `false`. */
  returnEachLine?: boolean;
}

/**
 * The `markdown` strategy: one chunk for each section, with the headings above it.
 *
 * Sections are not joined, because a chunk with two subjects matches neither well. The exception is a heading without text of its
 * own, which joins its first subsection. A section longer than `maxSize` is split between blocks (paragraphs, fences, tables, list
 * items), and inside a block only if the block is too long. With `headers`, only those headings begin a section.
 */
export function markdown(given: MarkdownChunkOptions): Chunker {
  const { stripHeaders = true, returnEachLine = false } = given;
  const pairs = given.headers?.map(([mark, key]) => [mark.trim(), key] as const);
  const marks = (pairs ?? []).flatMap(([mark]) => (/^#{1,6}$/.test(mark) ? [] : [mark]));
  const levelOf = (mark: string): number =>
    marks.includes(mark) ? firstMarkedLevel + marks.indexOf(mark) : mark.length;
  const headers = pairs && new Map(pairs.map(([mark, key]) => [levelOf(mark), key]));
  const common = toPackOptions(given, { minSize: defaultMinSize });
  const options = { ...common, ...(returnEachLine && { minSize: 0 }), headers, stripHeaders };
  return (text) => {
    const blocks = readMarkdownBlocks(text, marks);
    const sections = findSections(text, blocks, options);
    if (!returnEachLine) return packSections(text, blocks, sections, options);
    const lines = Array.from(text.matchAll(/\n/g), ({ index }) => index + 1);
    return packSections(text, blocks, splitSections(sections, lines), options);
  };
}
