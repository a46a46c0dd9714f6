import { readMarkdownBlocks } from './markdown-blocks.js';
import { packSections } from './pack-sections.js';
import type { SemanticMarkdownOptions } from './parse-options.js';
import { readSections, type Heading, type Section } from './sections.js';
import { createSizeLimit, type Measure } from './size-limit.js';
import type { Span } from './span.js';
import { skipWhiteSpace } from './trim-span.js';

/**
 * The `semantic-markdown` strategy: sections are joined, as long as together they have at most `joinThreshold` tokens, with what
 * is nearest to them in the tree of headings: first with their own subsections, then with their neighbours. The headings of a
 * chunk are those that all of it stands under.
 */
export function chunkSemanticMarkdown(
  text: string,
  options: SemanticMarkdownOptions & { readonly measure: Measure },
): Span[] {
  const { measure, joinThreshold } = options;
  const blocks = readMarkdownBlocks(text);
  const limit = createSizeLimit(text, { maxSize: joinThreshold, overlap: 0, measure });
  const sizeOf = ({ start, end }: Section): number =>
    limit.fits(start, end) ? measure(text.slice(start, end)) : Number.POSITIVE_INFINITY;
  const measured = readSections(text.length, blocks).map((section) => ({ ...section, size: sizeOf(section) }));
  return packSections(text, blocks, joinSections(text, measured, joinThreshold), options).map((span) => ({
    ...span,
    metadata: { tokenCount: measure(text.slice(span.start, span.end)) },
  }));
}

interface MeasuredSection extends Section {
  readonly size: number;
}

/** From the deepest headings up, joins each section with what follows under the same heading. */
function joinSections(
  text: string,
  sections: readonly MeasuredSection[],
  threshold: number,
): readonly MeasuredSection[] {
  let current = sections;
  for (let depth = sections.reduce((most, { path }) => Math.max(most, path.length), 0); depth >= 0; depth--) {
    const joined: MeasuredSection[] = [];
    for (const section of current) {
      const before = joined.at(-1);
      const path = before ? commonPath(before.path, section.path) : [];
      // Lines are tokens apart, so the sizes of parts add up to that of the whole.
      const size = (before?.size ?? 0) + section.size;
      // White space before the first heading stands under none, and would take the headings from what follows it.
      const isBlank = before && skipWhiteSpace(text, before.start, before.end) === before.end;
      if (before && !isBlank && path.length >= depth && size <= threshold) {
        joined[joined.length - 1] = { ...toSection(before.start, section.end, path), size };
      } else joined.push(section);
    }
    current = joined;
  }
  return current;
}

function commonPath(one: readonly Heading[], other: readonly Heading[]): readonly Heading[] {
  const length = one.findIndex((heading, index) => heading !== other[index]);
  return length === -1 ? one : one.slice(0, length);
}

function toSection(start: number, end: number, path: readonly Heading[]): Section {
  return { start, end, path, headings: path.map(({ title }) => title).filter((title) => title !== '') };
}
