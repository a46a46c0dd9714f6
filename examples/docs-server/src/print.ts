import type { GraphRAGOutput, QueryResult, VectorQueryOutput } from '@quiver/rag';

/** Prints passages with the numbers by which a model cites them, their places in their files, and how sure the search is. */
export function printHits({ sources }: VectorQueryOutput): void {
  for (const [index, { document, confidence = 0, metadata }] of sources.entries()) {
    console.log(`  [${index + 1}] ${toPlace(metadata)}, confidence ${confidence.toFixed(2)}`);
    console.log(`      ${excerpt(document)}`);
  }
}

/** Prints the first passage of a file that only the graph found, with the path that led there. */
export function printExploration(searched: VectorQueryOutput, explored: GraphRAGOutput): void {
  const known = new Set(searched.sources.map(({ metadata }) => metadata['source']));
  const found = explored.sources.find(({ path, metadata }) => path.length > 0 && !known.has(metadata['source']));
  if (!found) return console.log('  The graph leads to no other file: searchDocs has found them all.');
  console.log(`  Only exploreDocs finds ${toPlace(found.metadata)}`);
  console.log(`      ${excerpt(found.document)}`);
  for (const { kind, reason } of found.path) console.log(`      ↳ ${kind}: ${reason}`);
}

function toPlace(metadata: QueryResult['metadata']): string {
  const headings = (metadata['headings'] as string[] | undefined) ?? [];
  const [start, end] = [metadata['startIndex'], metadata['endIndex']];
  return `${[metadata['source'], ...headings].join(' › ')}  [characters ${String(start)}–${String(end)}]`;
}

function excerpt(text: string): string {
  // Removes table rules and bars, and joins the lines.
  const line = text
    .replaceAll(/-{4,}|[|\s]+/g, ' ')
    .replaceAll(/ {2,}/g, ' ')
    .trim();
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}

export function since(started: number): string {
  const milliseconds = performance.now() - started;
  return milliseconds < 1000 ? `${milliseconds.toFixed(0)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}
