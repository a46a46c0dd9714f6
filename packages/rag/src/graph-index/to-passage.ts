import type { GraphPassage } from '../graph/graph-passage.js';
import { recordText } from '../store/record-text.js';
import type { VectorRecord } from '../store/index.js';

/**
 * A record of a store as a passage of a graph. Its title is `metadata.title` or `documentTitle`, its source `metadata.source`,
 * its place in the source `metadata.startIndex`: what `MDocument` and `ingest` write.
 */
export function toPassage(record: VectorRecord): GraphPassage {
  const { id, metadata } = record;
  const { title, documentTitle, source, startIndex, triples } = metadata as Record<string, unknown>;
  return {
    id,
    document: recordText(record),
    title: textOf(title) ?? textOf(documentTitle),
    source: textOf(source),
    position: typeof startIndex === 'number' ? startIndex : undefined,
    metadata,
    triples: Array.isArray(triples) ? triples.filter(isTriple) : undefined,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isTriple(value: unknown): value is NonNullable<GraphPassage['triples']>[number] {
  const { subject, predicate, object } = (value ?? {}) as Record<string, unknown>;
  return [subject, predicate, object].every((part) => typeof part === 'string');
}
