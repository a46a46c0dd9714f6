import { defaultMinSize, toPackOptions, type MinSizeOptions } from './chunk-options.js';
import { headingLevel, type ElementPlace } from '../html/html-tags.js';
import { readMarkdownBlocks } from './markdown-blocks.js';
import type { Chunker } from './pack-spans.js';
import { packSections } from './pack-sections.js';
import { findSections, splitSections, type Section } from './sections.js';
import { floorGraphemeBoundary, lastAtOrBefore } from './text-boundary.js';

/** Options of the strategy `html`. */
export interface HtmlChunkOptions extends MinSizeOptions {
  strategy?: 'html';
  /** Headings that begin a chunk, and the metadata key of their titles: `[['h1', 'title']]`. Default: `h1` to `h6`, without keys. */
  headers?: readonly (readonly [tag: string, key: string])[];
  /** Elements that are sections, and the metadata key of their titles: `[['section', 'chapter']]`. */
  sections?: readonly (readonly [tag: string, key: string])[];
  /** Whether each block, such as a paragraph or a list item, becomes a chunk. Default `false`. */
  returnEachLine?: boolean;
}

/**
 * The `html` strategy: chunks of the page as Markdown, as of the strategy `markdown`. Headings are a part of their chunk.
 */
export function html(given: HtmlChunkOptions): Chunker {
  const { headers: headings, sections: elementPairs = [], returnEachLine = false } = given;
  // The v0 API lists headings among the sections.
  const levels = new Map<number, string>();
  const asked = new Map<string, string>();
  for (const [name, key] of [...elementPairs, ...(headings ?? [])]) {
    const tag = name.trim().toLowerCase();
    const level = headingLevel(tag);
    if (level === undefined) asked.set(tag, key);
    else levels.set(level, key);
  }
  const headers = headings === undefined && levels.size === 0 ? undefined : levels;
  const common = toPackOptions(given, { minSize: defaultMinSize });
  const options = { ...common, ...((returnEachLine || asked.size > 0) && { minSize: 0 }) };
  return (text, elements = []) => {
    const blocks = readMarkdownBlocks(text);
    const found = findSections(text, blocks, { ...options, headers });
    const sections = asked.size > 0 ? splitAtElements(text, elements, found, asked) : found;
    const starts = blocks.map(({ start }) => start);
    return packSections(text, blocks, returnEachLine ? splitSections(sections, starts) : sections, options);
  };
}

/** Splits sections at the edges of requested elements, and adds their titles. */
function splitAtElements(
  text: string,
  /** In the order of their starts, outer ones first. */
  elements: readonly ElementPlace[],
  sections: readonly Section[],
  keys: ReadonlyMap<string, string>,
): Section[] {
  let boundary = 0;
  const edges = [...new Set(elements.flatMap(({ start, end }) => [start, end]))]
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
    for (let element = elements[next]; element && element.start <= section.start; element = elements[++next]) {
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
function findTitles(sections: readonly Section[]): (element: ElementPlace) => string | undefined {
  const titled = sections.filter(({ path }) => path.length > 0);
  const starts = titled.map(({ start }) => start);
  return ({ start, end }) => {
    const first = titled[lastAtOrBefore(starts, start - 1) + 1];
    return first && first.start < end ? first.path.at(-1)?.title : undefined;
  };
}
