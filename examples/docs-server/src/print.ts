import type { QueryResult } from '@quiver/rag';

/** One passage, with everything that is needed to find it in its file. */
export function printHit({ document, score, metadata }: QueryResult, index: number): void {
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
  const place = [source, ...headings].join(' › ');
  console.log(`  ${index + 1}. ${score.toFixed(3)}  ${place}  [characters ${startIndex}–${endIndex}]`);
  console.log(`     ${excerpt(document)}`);
}

function excerpt(text: string): string {
  // Without the rules and bars of tables, on one line.
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
