import type { SkippedText } from '@quiver/rag/document';

/** A line of a text, without its line end. */
export interface Line {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export function toLines(text: string): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start <= text.length;) {
    const found = text.indexOf('\n', start);
    const next = found === -1 ? text.length : found;
    const end = next > start && text[next - 1] === '\r' ? next - 1 : next;
    lines.push({ text: text.slice(start, end), start, end });
    start = next + 1;
  }
  return lines;
}

/** Returns the parts of a text whose lines have a kind. Lines of one kind that follow each other, apart from empty ones, are one part. */
export function partsOfLines(lines: readonly Line[], kinds: readonly (string | undefined)[]): SkippedText[] {
  const parts: SkippedText[] = [];
  let isOpen = false;
  for (const [index, { text, start, end }] of lines.entries()) {
    const kind = kinds[index];
    if (text.trim() === '') continue;
    const last = parts.at(-1);
    if (kind !== undefined && isOpen && last?.kind === kind) parts.splice(-1, 1, { ...last, end });
    else if (kind !== undefined) parts.push({ start, end, kind });
    isOpen = kind !== undefined;
  }
  return parts;
}
