import { recordText, textAbove } from '../store/record-text.js';
import type { VectorMetadata, VectorRecord } from '../store/index.js';

/** A statement of a text. */
export interface Triple {
  subject: string;
  predicate: string;
  object: string;
}

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
  /** Statements that a model extracted, see `extractTriples`. */
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

/**
 * Converts a record of a store to a passage of a graph. Its title is `metadata.title` or `documentTitle`, its source
 * `metadata.source`, its position `metadata.startIndex`, as `MDocument` and `ingest` write them.
 */
export function toPassage(record: VectorRecord): GraphPassage {
  const { id, metadata } = record;
  const { title, documentTitle, source } = textAbove(metadata);
  const { startIndex, triples } = metadata as Record<string, unknown>;
  return {
    id,
    document: recordText(record),
    title: title || documentTitle || undefined,
    source: source || undefined,
    position: typeof startIndex === 'number' ? startIndex : undefined,
    metadata,
    triples: Array.isArray(triples) ? triples.filter(isTriple) : undefined,
  };
}

function isTriple(value: unknown): value is NonNullable<GraphPassage['triples']>[number] {
  const { subject, predicate, object } = (value ?? {}) as Record<string, unknown>;
  return [subject, predicate, object].every((part) => typeof part === 'string');
}
