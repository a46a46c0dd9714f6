import { floorGraphemeBoundary } from './grapheme-boundary.js';
import { readHtmlText, type HtmlBlock, type HtmlElement } from './html-text.js';
import { divideAtLines, packSections } from './pack-sections.js';
import type { HtmlOptions } from './parse-options.js';
import { joinBareHeadings, labelSections, readSections, type Section } from './sections.js';
import { createSizeLimit } from './size-limit.js';
import { lastAtOrBefore } from './sorted-search.js';
import type { Span } from './span.js';

/**
 * The `html` strategy: the text that a browser would show, one chunk for each section, with the headings above it. Each text is
 * in one chunk, however deep its elements are nested; a section longer than `maxSize` is divided between blocks.
 *
 * A chunk's text is decoded. Its place is the part of the source that this text stands in, from its first character to its
 * last, and `xpath` is the path of the element in which it starts.
 */
export function chunkHtml(source: string, options: HtmlOptions): Span[] {
  const { headers, sections: asked, returnEachLine } = options;
  const html = readHtmlText(source, new Set(asked.keys()));
  const blocks = html.blocks.map((block) => withTitle(html.text, block));
  const sections = headers
    ? labelSections(html.text, blocks, { headers, stripHeaders: false })
    : joinBareHeadings(html.text, readSections(html.text.length, blocks), createSizeLimit(html.text, options).fits);
  const divided = asked.size > 0 ? divideAtElements(html.text, html.elements, sections, asked) : sections;
  const lines = returnEachLine ? divideAtLines(html.text, divided) : divided;
  const starts = blocks.map(({ start }) => start);
  return packSections(html.text, blocks, lines, options).map((span) => ({
    ...html.map.toSource(span.start, span.end),
    text: html.text.slice(span.start, span.end),
    ...(span.headings && { headings: span.headings }),
    metadata: { ...span.metadata, xpath: blocks[Math.max(0, lastAtOrBefore(starts, span.start))]?.xpath ?? '' },
  }));
}

function withTitle(text: string, block: HtmlBlock): HtmlBlock {
  const { start, heading } = block;
  if (!heading) return block;
  return { ...block, heading: { ...heading, title: text.slice(start, heading.end).replace(/\s+/g, ' ').trim() } };
}

/** Cuts sections where elements that were asked for begin and end, and adds their titles. */
function divideAtElements(
  text: string,
  elements: readonly HtmlElement[],
  sections: readonly Section[],
  keys: ReadonlyMap<string, string>,
): Section[] {
  // Outer ones first: where two hold the same text, the inner one ended, and stands, first.
  const ordered = elements.toReversed().sort((a, b) => a.start - b.start || b.end - a.end);
  let boundary = 0;
  const edges = [...new Set(ordered.flatMap(({ start, end }) => [start, end]))]
    .toSorted((a, b) => a - b)
    .map((edge) => (boundary = floorGraphemeBoundary(text, edge, boundary)));
  const titleOf = findTitles(sections);
  const divided: Section[] = [];
  /** From the outermost to the innermost, each with the titles of those around it. */
  const open: { titles: Readonly<Record<string, string>>; end: number }[] = [];
  const closeUntil = (place: number): void => {
    for (let last = open.at(-1); last && last.end <= place; last = open.at(-1)) open.pop();
  };
  let nextElement = 0;
  let nextEdge = 0;
  for (const section of sections) {
    for (let start = section.start; start < section.end;) {
      while (edges[nextEdge] !== undefined && edges[nextEdge]! <= start) nextEdge++;
      const end = Math.min(section.end, edges[nextEdge] ?? section.end);
      for (; nextElement < ordered.length && ordered[nextElement]!.start <= start; nextElement++) {
        const element = ordered[nextElement]!;
        const title = titleOf(element) ?? element.label;
        if (title !== undefined) {
          closeUntil(element.start);
          const key = keys.get(element.name) as string;
          open.push({ titles: { ...open.at(-1)?.titles, [key]: title }, end: element.end });
        }
      }
      closeUntil(start);
      divided.push({ ...section, start, end, metadata: { ...section.metadata, ...open.at(-1)?.titles } });
      start = end;
    }
  }
  return divided;
}

/** The title of an element is its first heading. */
function findTitles(sections: readonly Section[]): (element: HtmlElement) => string | undefined {
  const titled = sections.filter(({ heading }) => heading);
  const starts = titled.map(({ start }) => start);
  return ({ start, end }) => {
    const first = titled[lastAtOrBefore(starts, start - 1) + 1];
    return first && first.start < end ? first.heading?.title : undefined;
  };
}
