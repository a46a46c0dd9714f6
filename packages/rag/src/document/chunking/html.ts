import {
  defaultMinSize,
  type CommonChunkOptions,
  type MeasureOptions,
  type MinSizeOptions,
  type OptionReader,
} from './chunk-options.js';
import { headingLevel } from './html-tags.js';
import { readHtmlText, toXpath, type HtmlElement } from './html-text.js';
import type { Chunker } from './pack-spans.js';
import { packSections } from './pack-sections.js';
import { findSections, splitAtLines, splitSections, type Section } from './sections.js';
import { floorGraphemeBoundary, lastAtOrBefore } from './text-boundary.js';

/** Options of the strategy `html`. */
export interface HtmlChunkOptions extends CommonChunkOptions, MeasureOptions, MinSizeOptions {
  strategy?: 'html';
  /** Headings that begin a chunk, and the metadata key of their titles: `[['h1', 'title']]`. Default: `h1` to `h6`, without keys. */
  headers?: readonly (readonly [tag: string, key: string])[];
  /** Elements that are sections, and the metadata key of their titles: `[['section', 'chapter']]`. */
  sections?: readonly (readonly [tag: string, key: string])[];
  /** Whether each block, such as a paragraph or a list item, becomes a chunk. Default `false`. */
  returnEachLine?: boolean;
}

/**
 * The `html` strategy: the text that a browser shows, one chunk for each section, with the headings above it. Each text is in one
 * chunk, however deep its elements are nested. A section longer than `maxSize` is split between blocks.
 *
 * The text of a chunk is decoded. Its position is the part of the source that contains this text, from its first character to its
 * last, and `xpath` is the path of the element in which it starts.
 */
export function html(read: OptionReader): Chunker {
  const common = read.common({ minSize: defaultMinSize });
  const headings = read.pairs('headers', (tag) => headingLevel(tag.toLowerCase()));
  const pairs = read.pairs('sections', (tag) => (/^[a-z][a-z0-9-]*$/i.test(tag) ? tag.toLowerCase() : undefined));
  const returnEachLine = read.boolean('returnEachLine', false);
  // The v0 API lists headings among the sections.
  const levels = new Map<number, string>();
  const asked = new Map<string, string>();
  for (const [tag, key] of pairs ?? []) {
    const level = headingLevel(tag);
    if (level === undefined) asked.set(tag, key);
    else levels.set(level, key);
  }
  for (const [level, key] of headings ?? []) levels.set(level, key);
  const headers = headings === undefined && levels.size === 0 ? undefined : levels;
  const options = { ...common, ...((returnEachLine || asked.size > 0) && { minSize: 0 }) };
  return (source) => {
    const page = readHtmlText(source, new Set(asked.keys()));
    const { text, blocks } = page;
    const sections = findSections(text, blocks, { ...options, headers });
    const split = asked.size > 0 ? splitAtElements(text, page.elements, sections, asked) : sections;
    const starts = blocks.map(({ start }) => start);
    return packSections(text, blocks, returnEachLine ? splitAtLines(text, split) : split, options).map((span) => ({
      ...span,
      ...page.decoded.toSource(span.start, span.end),
      text: text.slice(span.start, span.end),
      metadata: { ...span.metadata, xpath: toXpath(blocks[Math.max(0, lastAtOrBefore(starts, span.start))]?.path) },
    }));
  };
}

/** Splits sections at the edges of requested elements, and adds their titles. */
function splitAtElements(
  text: string,
  elements: readonly HtmlElement[],
  sections: readonly Section[],
  keys: ReadonlyMap<string, string>,
): Section[] {
  // Outer ones first: of two with the same text, the inner one ended first.
  const ordered = elements.toReversed().sort((a, b) => a.start - b.start || b.end - a.end);
  let boundary = 0;
  const edges = [...new Set(ordered.flatMap(({ start, end }) => [start, end]))]
    .toSorted((a, b) => a - b)
    .map((edge) => (boundary = floorGraphemeBoundary(text, edge, boundary)));
  const titleOf = findTitles(sections);
  /** From the outermost to the innermost, each with the titles of those around it. */
  const open: { titles: Readonly<Record<string, string>>; end: number }[] = [];
  const closeUntil = (position: number): void => {
    for (let last = open.at(-1); last && last.end <= position; last = open.at(-1)) open.pop();
  };
  let next = 0;
  return splitSections(sections, edges).map((section) => {
    for (let element = ordered[next]; element && element.start <= section.start; element = ordered[++next]) {
      const title = titleOf(element) ?? element.label;
      if (title === undefined) continue;
      closeUntil(element.start);
      const key = keys.get(element.name) as string;
      open.push({ titles: { ...open.at(-1)?.titles, [key]: title }, end: element.end });
    }
    closeUntil(section.start);
    return { ...section, metadata: { ...section.metadata, ...open.at(-1)?.titles } };
  });
}

/** The title of an element is its first heading. */
function findTitles(sections: readonly Section[]): (element: HtmlElement) => string | undefined {
  const titled = sections.filter(({ path }) => path.length > 0);
  const starts = titled.map(({ start }) => start);
  return ({ start, end }) => {
    const first = titled[lastAtOrBefore(starts, start - 1) + 1];
    return first && first.start < end ? first.path.at(-1)?.title : undefined;
  };
}
