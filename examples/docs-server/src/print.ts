import type { QueryResult } from '@quiver/rag';

/** Prints a passage with the number by which a model cites it, its position in its file, and how sure the search is. */
export function printHit({ document, confidence = 0, metadata }: QueryResult, index: number): void {
  console.log(`  [${index + 1}] ${toPlace(metadata)}, confidence ${confidence.toFixed(2)}`);
  console.log(`      ${excerpt(document)}`);
}

/** Returns the file, headings and character range of a passage. */
export function toPlace(metadata: QueryResult['metadata']): string {
  const {
    source,
    headings = [],
    startIndex,
    endIndex,
  } = metadata as {
    source: string;
    headings?: string[];
    startIndex: number;
    endIndex: number;
  };
  return `${[source, ...headings].join(' › ')}  [characters ${startIndex}–${endIndex}]`;
}

export function excerpt(text: string): string {
  // Removes table rules and bars, and joins the lines.
  const line = text
    .replaceAll(/-{4,}|[|\s]+/g, ' ')
    .replaceAll(/ {2,}/g, ' ')
    .trim();
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}

export function since(started: number): string {
  return seconds(performance.now() - started);
}

export function seconds(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds.toFixed(0)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}
