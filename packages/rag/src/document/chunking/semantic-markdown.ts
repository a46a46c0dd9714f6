import { toPackOptions, type CommonChunkOptions } from './chunk-options.js';
import { readMarkdownBlocks } from './markdown-blocks.js';
import { createSizeLimit, type Chunker } from './pack-spans.js';
import { packSections } from './pack-sections.js';
import { commonPath, joinBareHeadings, readSections, type Section } from './sections.js';
import { skipWhiteSpace } from './text-boundary.js';
import { createTokenCounter, type TokenOptions } from './token-counter.js';

/** `maxSize`, `overlap` and `joinThreshold` are numbers of tokens. */
export interface SemanticMarkdownChunkOptions extends CommonChunkOptions, TokenOptions {
  strategy?: 'semantic-markdown';
  /** Size up to which neighboring sections are joined. Default 500, or `maxSize` if that is less. */
  joinThreshold?: number;
}

/**
 * The `semantic-markdown` strategy: joins sections of together at most `joinThreshold` tokens, first with their own subsections, then
 * with their neighbors. The headings of a chunk are the headings above all of it.
 */
export async function semanticMarkdown(given: SemanticMarkdownChunkOptions): Promise<Chunker> {
  const common = toPackOptions(given);
  const joinThreshold = Math.min(given.joinThreshold ?? 500, common.maxSize);
  const { count, requireAllowed } = await createTokenCounter(given);
  const options = { ...common, measure: count };
  return (text) => {
    requireAllowed(text);
    const blocks = readMarkdownBlocks(text);
    const limit = createSizeLimit(text, { maxSize: joinThreshold, overlap: 0, measure: count });
    const measured = joinBareHeadings(text, readSections(text, blocks)).map((section) => {
      const { start, end } = section;
      const size = limit.fits(start, end) ? count(text.slice(start, end)) : Number.POSITIVE_INFINITY;
      return { ...section, size };
    });
    return packSections(text, blocks, joinSections(text, measured, joinThreshold), options).map((span) => ({
      ...span,
      metadata: { tokenCount: count(text.slice(span.start, span.end)) },
    }));
  };
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
      // White space before the first heading has no headings, and would remove the headings of the section after it.
      const isBlank = before && skipWhiteSpace(text, before.start, before.end) === before.end;
      if (before && !isBlank && path.length >= depth && size <= threshold) {
        joined[joined.length - 1] = { start: before.start, end: section.end, path, size };
      } else joined.push(section);
    }
    current = joined;
  }
  return current;
}
