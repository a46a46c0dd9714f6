import { QuiverError } from '@quiver/core';
import type { GraphPassage } from '../graph/graph-passage.js';
import type { VectorFilter, VectorStore } from '../store/index.js';
import { toPassage } from './to-passage.js';

const pageSize = 1000;

export interface ReadPassagesOptions {
  readonly store: VectorStore;
  readonly indexName: string;
  readonly filter: VectorFilter;
  /** More are not read. */
  readonly maxPassages: number;
  readonly signal?: AbortSignal | undefined;
  /** @param passages - read so far */
  readonly onRead?: ((passages: number) => void) | undefined;
}

export interface ReadPassages {
  readonly passages: GraphPassage[];
  /** One after the other. */
  readonly vectors: Float32Array;
}

/** Everything of an index that passes the filter, in the order of the ids; `undefined` when it is more than may be read. */
export async function readPassages(options: ReadPassagesOptions): Promise<ReadPassages | undefined> {
  const { store, indexName, filter, maxPassages, signal, onRead } = options;
  const passages: GraphPassage[] = [];
  const parts: Float32Array[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.scan({
      indexName,
      filter,
      includeVector: true,
      limit: pageSize,
      ...(cursor !== undefined && { cursor }),
      ...(signal && { signal }),
    });
    if (passages.length + page.records.length > maxPassages) return undefined;
    for (const record of page.records) {
      if (!record.vector)
        throw new QuiverError('GRAPH_INVALID', `The record '${record.id}' of '${indexName}' came without its vector.`);
      passages.push(toPassage(record));
      parts.push(Float32Array.from(record.vector));
    }
    onRead?.(passages.length);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return { passages, vectors: concatenate(parts) };
}

function concatenate(parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((length, part) => length + part.length, 0));
  let place = 0;
  for (const part of parts) {
    all.set(part, place);
    place += part.length;
  }
  return all;
}
