import { QuiverError } from '@quiver/core';
import type { VectorFilter, VectorStore } from '../store/index.js';
import { buildChunkGraph } from './build-chunk-graph.js';
import type { ChunkGraph } from './chunk-graph.js';
import type { GraphScope } from './graph-settings.js';
import { toPassage, type GraphPassage } from './passage.js';

/** Progress of a build. */
export interface GraphProgress {
  phase: 'read' | 'connect';
  /** Passages read so far. */
  passages: number;
  /** Finished share of the phase, in [0, 1]; absent while it is not known. */
  done?: number;
}

/** Graph of a scope at one version of its data. */
export interface IndexGraph {
  readonly version: string;
  readonly graph: ChunkGraph;
}

export interface MakeGraphOptions {
  readonly store: VectorStore;
  readonly scope: GraphScope;
  readonly maxNodes: number;
  readonly version: string;
  /** Graph of an earlier version. Unchanged parts are not computed again. */
  readonly previous?: IndexGraph | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: GraphProgress) => void) | undefined;
}

/**
 * Builds the graph of all records in a scope.
 *
 * @param options.version - read before the records: a later change leads to another version, and the next query updates the graph
 * @returns `undefined` when there are more passages than a graph may have
 */
export async function makeIndexGraph(options: MakeGraphOptions): Promise<IndexGraph | undefined> {
  const { store, scope, maxNodes, version, previous, signal, onProgress } = options;
  const { indexName, filter, edges } = scope;
  const { dimension } = await store.describeIndex({ indexName, ...(signal && { signal }) });
  const read = await readPassages({
    store,
    indexName,
    filter,
    maxPassages: maxNodes,
    signal,
    onRead: (passages) => onProgress?.({ phase: 'read', passages }),
  });
  if (!read) return undefined;
  const { passages, vectors } = read;
  const graph = await buildChunkGraph({
    passages,
    vectors,
    dimension,
    edges,
    previous: previous?.graph,
    signal,
    onProgress: ({ done }) => onProgress?.({ phase: 'connect', passages: passages.length, done }),
  });
  return { version, graph };
}

const pageSize = 1000;

interface ReadPassagesOptions {
  readonly store: VectorStore;
  readonly indexName: string;
  readonly filter: VectorFilter;
  /** More are not read. */
  readonly maxPassages: number;
  readonly signal?: AbortSignal | undefined;
  /** @param passages - read so far */
  readonly onRead?: ((passages: number) => void) | undefined;
}

interface ReadPassages {
  readonly passages: GraphPassage[];
  /** One after the other. */
  readonly vectors: Float32Array;
}

/** Reads the records that match the filter, in the order of the ids. @returns `undefined` when there are more than allowed */
async function readPassages(options: ReadPassagesOptions): Promise<ReadPassages | undefined> {
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
        throw new QuiverError('GRAPH_INVALID', `The record '${record.id}' of '${indexName}' has no vector.`);
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
