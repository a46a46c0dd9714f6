import type { Span } from './chunking/pack-spans.js';
import { lastAtOrBefore, skipWhiteSpace, trimEnd } from './chunking/text-boundary.js';

/** A part of a text that is not searched. It stays in the text. */
export interface SkippedText {
  /** Position in the text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  /**
   * Kind of text. Loaders use `navigation`, `contents` (tables of contents and lists of figures), `index` (of terms), `boilerplate` (what most
   * pages or slides repeat), `heading` (of a chapter that has no text of its own), `signature`, `notice`, `quoted` (earlier mail) and `badges`.
   */
  readonly kind: string;
}

/** Whether the parts are inside the text, in order, and apart from each other. */
export function areSkippable(parts: unknown, { length }: string): parts is readonly SkippedText[] {
  if (!Array.isArray(parts)) return false;
  let last = 0;
  return parts.every((part: Partial<SkippedText> | null) => {
    const { start, end, kind } = part ?? {};
    const isPart = Number.isInteger(start) && Number.isInteger(end) && typeof kind === 'string' && kind !== '';
    if (!isPart || start! < last || end! <= start! || end! > length) return false;
    last = end!;
    return true;
  });
}

/** Returns the text with spaces in place of the parts. Positions and line breaks are the same. */
export function blankOut(text: string, parts: readonly SkippedText[]): string {
  let rest = 0;
  const pieces: string[] = [];
  for (const { start, end } of parts) {
    pieces.push(text.slice(rest, start), text.slice(start, end).replace(/[^\n\r]/g, ' '));
    rest = end;
  }
  return pieces.join('') + text.slice(rest);
}

/**
 * Returns the spans without the parts. A span around a part is split. Headings right before a part are left out with it: their titles
 * are the headings of the text behind it, and alone they match queries and answer none.
 */
export function cutOut(spans: readonly Span[], text: string, parts: readonly SkippedText[]): Span[] {
  if (parts.length === 0) return [...spans];
  const starts = parts.map(({ start }) => start);
  return spans.flatMap((span) => {
    const pieces: Span[] = [];
    let from = span.start;
    /** @param next - start of the part behind the piece */
    const add = (to: number, next: number | undefined): void => {
      const start = skipWhiteSpace(text, from, to);
      const end = trimEnd(text, start, to);
      const isBefore = next !== undefined && span.headings !== undefined && skipWhiteSpace(text, end, next) === next;
      if (start >= end) return;
      if (isBefore && isOnlyHeadings(text.slice(start, end))) isChanged = true;
      else pieces.push({ ...span, start, end });
    };
    let isChanged = false;
    let at = Math.max(0, lastAtOrBefore(starts, from));
    for (; at < parts.length; at += 1) {
      const part = parts[at]!;
      // A chunk of headings may end where a long part begins.
      if (part.start >= span.end) break;
      if (part.end <= from) continue;
      isChanged = true;
      add(Math.max(from, part.start), part.start);
      from = part.end;
    }
    add(Math.max(from, span.end), parts[at]?.start);
    return isChanged ? pieces : [span];
  });
}

function isOnlyHeadings(text: string): boolean {
  return text.split('\n').every((line) => /^(?:#{1,6}[ \t]|\s*$)/.test(line));
}

/** Number of characters that are not searched, by kind, for example `{ navigation: 2400 }`. */
export type SkippedCounts = Record<string, number>;

/** Adds to counts. */
export function addSkipped(counts: SkippedCounts, more: Readonly<SkippedCounts> = {}): void {
  for (const [kind, count] of Object.entries(more)) counts[kind] = (counts[kind] ?? 0) + count;
}
