import type { PdfPage } from './pdf-fragments.js';

/** Typography of a document. */
export interface PdfStyle {
  /** Font size of the text in paragraphs. */
  readonly body: number;
  /** Font of the text in paragraphs. */
  readonly font: string;
  /** Sizes of headings, largest first. */
  readonly headings: readonly number[];
  /** Words with a hyphen, and words without, in lower case. */
  readonly words: ReadonlySet<string>;
}

/** Part of the size of the text by which a heading is larger. */
export const headingSize = 1.08;
/** Share of the text that may have the size of a heading. */
const mostHeadings = 0.2;
/** Words of a line of prose: cells of tables and labels have fewer. */
const leastWords = 5;

/** Numbers of letters. */
interface Letters {
  readonly sizes: Map<number, number>;
  readonly fonts: Map<string, number>;
}

/** Finds the style of the text in paragraphs: a manual of commands may have more letters in listings and tables. */
export function readStyle(pages: readonly PdfPage[]): PdfStyle {
  const paragraphs: Letters = { sizes: new Map(), fonts: new Map() };
  const all: Letters = { sizes: new Map(), fonts: new Map() };
  const listings: Letters = { sizes: new Map(), fonts: new Map() };
  let total = 0;
  const words = new Set<string>();
  const large = new Set<number>();
  for (const { segments } of pages) {
    for (const { text, size, font, isMonospaced } of segments) {
      const rounded = roundSize(size);
      if (/\p{L}{3}/u.test(text)) large.add(rounded);
      if (!isMonospaced) total += text.length;
      const isProse = !isMonospaced && text.split(' ', leastWords).length === leastWords;
      for (const counts of isProse ? [paragraphs, all] : isMonospaced ? [listings] : [all]) {
        count(counts.sizes, rounded, text.length);
        if (font !== '') count(counts.fonts, font, text.length);
      }
      for (const [word] of text.matchAll(/\p{L}[\p{L}-]*\p{L}(?![\p{L}-])/gu)) words.add(word.toLowerCase());
    }
  }
  const { sizes, fonts } = [paragraphs, all, listings].find((counts) => counts.sizes.size > 0) ?? all;
  const body = most(sizes) ?? 0;
  const headings = [...large]
    .filter((size) => size >= body * headingSize && (all.sizes.get(size) ?? 0) <= mostHeadings * total)
    .toSorted((a, b) => b - a);
  return { body, font: most(fonts) ?? '', headings, words };
}

export function roundSize(size: number): number {
  return Math.round(size * 2) / 2;
}

function count<Key>(counts: Map<Key, number>, key: Key, letters: number): void {
  counts.set(key, (counts.get(key) ?? 0) + letters);
}

function most<Key>(counts: ReadonlyMap<Key, number>): Key | undefined {
  let found: Key | undefined;
  for (const [key, letters] of counts) if (found === undefined || letters > counts.get(found)!) found = key;
  return found;
}
