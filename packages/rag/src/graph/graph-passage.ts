import type { VectorMetadata } from '../store/index.js';
import type { Triple } from './triple.js';

/** A piece of text that becomes a node of a {@link ChunkGraph}. */
export interface GraphPassage {
  /** The store's own id. */
  id: string;
  /** The text itself. */
  document: string;
  /** Name of the document that the passage comes from. */
  title?: string | undefined;
  /** Path or URL of that document: links are resolved against it, and passages of the same source belong together. */
  source?: string | undefined;
  /** Order of the passage in its source. */
  position?: number | undefined;
  metadata?: VectorMetadata | undefined;
  /** What a model read in the passage, see `extractTriples`. */
  triples?: readonly Triple[] | undefined;
}

/** Passages of each source in their order; the first of each stands for the whole document. */
export function groupBySource(passages: readonly GraphPassage[]): Map<string, number[]> {
  const sources = new Map<string, number[]>();
  for (const [node, { source }] of passages.entries()) {
    if (source === undefined) continue;
    const group = sources.get(source);
    if (group) group.push(node);
    else sources.set(source, [node]);
  }
  const position = (node: number): number => passages[node]?.position ?? 0;
  for (const group of sources.values()) group.sort((a, b) => position(a) - position(b) || a - b);
  return sources;
}
