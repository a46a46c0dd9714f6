import type { PageBox, SkippedText, TextPlace } from '@quiver/rag/document';
import { toRow, toTableHeader } from '../../structure/markdown-writer.js';
import type { PdfListing, PdfTableBlock } from './pdf-blocks.js';

/** Joins a text from its blocks, with the place of each part. */
export class TextWriter {
  readonly #texts: string[] = [];
  readonly #places: TextPlace[] = [];
  readonly #skip: SkippedText[] = [];
  #length = 0;

  /**
   * @param pieces - parts of a block, which touch
   * @param places - of the parts, in their order
   * @param kind - of text that is not searched
   */
  add(pieces: readonly string[], places: readonly { page: number; box?: PageBox }[], kind?: string): void {
    if (pieces.every((piece) => piece === '')) return;
    if (this.#length > 0) this.#append('\n\n');
    const start = this.#length;
    for (const [index, piece] of pieces.entries()) {
      const from = this.#length;
      this.#append(piece);
      const place = places[index];
      if (place) this.#places.push({ start: from, end: this.#length, ...place, page: place.page + 1 });
    }
    const end = this.#length;
    const last = this.#skip.at(-1);
    if (kind !== undefined && last?.kind === kind && last.end + 2 === start) this.#skip.splice(-1, 1, { ...last, end });
    else if (kind !== undefined) this.#skip.push({ start, end, kind });
  }

  #append(text: string): void {
    this.#texts.push(text);
    this.#length += text.length;
  }

  end(): { text: string; places: TextPlace[]; skip: SkippedText[] } {
    return { text: this.#texts.join(''), places: this.#places, skip: this.#skip };
  }
}

/**
 * Joins the lines of each part of a paragraph, and the parts of words that were hyphenated between two lines. The pieces of text touch.
 *
 * @param words - words of the document, in lower case
 */
export function joinLines(parts: readonly (readonly string[])[], words: ReadonlySet<string>): string[] {
  const lines = parts.flat();
  let index = 0;
  return parts.map((part) => {
    const joined: string[] = [];
    for (const line of part) {
      index += 1;
      const next = lines[index];
      joined.push(next === undefined ? line : joinWith(line, next, words));
    }
    return joined.join('');
  });
}

/** Returns a line as the next one continues it. */
function joinWith(line: string, next: string, words: ReadonlySet<string>): string {
  const end = /(\p{L}+)[-\u00AD\u2010]$/u.exec(line.slice(-60));
  const start = /^\p{Ll}\p{L}*/u.exec(next.slice(0, 60));
  if (!end || !start) return `${line} `;
  const compound = `${end[1]}-${start[0]}`.toLowerCase();
  const isCompound = line.endsWith('-') && words.has(compound) && !words.has(compound.replace('-', ''));
  return isCompound ? line : line.slice(0, -1);
}

/** Marks a heading or an item of a list, and escapes text that looks like the mark of a heading or a listing. */
export function markText([first = '', ...others]: readonly string[], level: number | undefined): string[] {
  if (level !== undefined) return [`${'#'.repeat(level)} ${first}`, ...others];
  const marked = first.replace(/^[•◦▪‣·]\s*/, '- ').replace(/^(#{1,6}\s|```|~~~|=+$|-{2,}$)/, '\\$1');
  return [marked, ...others];
}

/** Renders the parts of a listing as one. */
export function renderListing(parts: readonly PdfListing[]): string[] {
  return parts.map(({ lines }, index) => {
    const code = `${lines.join('\n').replaceAll('```', "'''")}\n`;
    return `${index === 0 ? '```\n' : ''}${code}${index === parts.length - 1 ? '```' : ''}`;
  });
}

/** Renders the parts of a table as one. Its first row becomes the header, which further parts may repeat. */
export function renderTable(parts: readonly PdfTableBlock[]): string[] {
  const header = parts[0]!.table[0]!;
  return parts.map(({ table }, index) => {
    const [first, ...rows] = table;
    const isHeader = index > 0 && first!.every((cell, column) => cell === header[column]);
    const lines = [...(index === 0 ? [toTableHeader(header)] : isHeader ? [] : [toRow(first!)]), ...rows.map(toRow)];
    return lines.map((line) => (index === 0 && line === lines[0] ? line : `\n${line}`)).join('');
  });
}
