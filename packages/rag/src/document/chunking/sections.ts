import type { Span } from './span.js';
import { skipWhiteSpace } from './trim-span.js';

/** A part of a text that is kept together if it fits. It ends where the next one starts. */
export interface Block {
  readonly start: number;
  /** Present when the block is a heading. */
  readonly heading?: Heading;
}

export interface Heading {
  /** 1 is the outermost. */
  readonly level: number;
  readonly title: string;
  /** Where the text under the heading starts. */
  readonly end: number;
}

/** A heading and the text up to the next one. */
export interface Section extends Omit<Span, 'text'> {
  readonly headings: readonly string[];
  /** Absent before the first heading. */
  readonly heading?: Heading;
  /** Headings above this one, itself included. */
  readonly path: readonly Heading[];
}

/** Divides a text of this length at its headings. */
export function readSections(length: number, blocks: readonly Block[]): Section[] {
  const sections: Section[] = [];
  let current: Omit<Section, 'end'> = { start: 0, headings: [], path: [] };
  for (const { start, heading } of blocks) {
    if (!heading) continue;
    if (current.heading || start > 0) sections.push({ ...current, end: start });
    const path = [...current.path.filter(({ level }) => level < heading.level), heading];
    const headings = path.map(({ title }) => title).filter((title) => title !== '');
    current = { start, headings, path, heading };
  }
  sections.push({ ...current, end: length });
  return sections;
}

/** Gives headings without text of their own to their first subsection, if it still fits. */
export function joinBareHeadings(
  text: string,
  sections: readonly Section[],
  fits: (start: number, end: number) => boolean,
): Section[] {
  const joined: Section[] = [];
  for (const section of sections) {
    const above = joined.at(-1);
    const isSubsection = above?.heading && section.heading && section.heading.level > above.heading.level;
    if (isSubsection && isBare(text, above) && fits(above.start, section.end)) {
      joined[joined.length - 1] = { ...section, start: above.start };
    } else joined.push(section);
  }
  return joined;
}

function isBare(text: string, { heading, end }: Section): boolean {
  return heading !== undefined && skipWhiteSpace(text, heading.end, end) === end;
}

/** Leaves only the headings with a metadata key to begin sections, and the headings themselves out if asked. */
export function labelSections(
  text: string,
  blocks: readonly Block[],
  { headers, stripHeaders }: { headers: ReadonlyMap<number, string>; stripHeaders: boolean },
): Section[] {
  const labelled = blocks.filter(({ heading }) => heading && headers.has(heading.level));
  return readSections(text.length, labelled).map((section) => ({
    ...section,
    ...(stripHeaders && section.heading && { start: section.heading.end }),
    metadata: Object.fromEntries(section.path.map(({ level, title }) => [headers.get(level) as string, title])),
  }));
}
