import { getDefaultLogger, isQuiverError, toErrorMessage } from '@quiver/core';
import { contentHash } from '../document/content-hash.js';
import { ChunkGraph } from '../graph/chunk-graph.js';
import type { VectorStore } from '../store/index.js';
import { scopeKey, type GraphScope } from './graph-settings.js';
import type { IndexGraph } from './index-graph.js';

interface SnapshotHead {
  key: string;
  version: string;
}

/**
 * The graph that is kept beside the index; `undefined` when there is none that can be used. It is made again from the data then, so
 * a place that cannot be read is a warning.
 *
 * @throws the reason of `signal`
 */
export async function readKeptGraph(
  { derived }: VectorStore,
  scope: GraphScope,
  signal: AbortSignal | undefined,
): Promise<IndexGraph | undefined> {
  const key = scopeKey(scope);
  const { indexName } = scope;
  try {
    const bytes = await derived?.read({ indexName, name: nameOf(key), ...(signal && { signal }) });
    if (!bytes) return undefined;
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))) as SnapshotHead;
    if (head.key !== key) return undefined;
    return { version: head.version, graph: ChunkGraph.deserialize(bytes.subarray(4 + length)) };
  } catch (error) {
    signal?.throwIfAborted();
    getDefaultLogger().warn(
      `The graph kept beside '${indexName}' cannot be used and is made again: ${toErrorMessage(error)}`,
    );
    return undefined;
  }
}

/**
 * Keeps a graph beside its index. The graph in memory serves without it, so a place that cannot be written is a warning.
 *
 * @returns whether it is kept
 */
export async function keepGraph(
  { derived }: VectorStore,
  scope: GraphScope,
  { version, graph }: IndexGraph,
): Promise<boolean> {
  if (!derived) return false;
  const key = scopeKey(scope);
  const head = new TextEncoder().encode(JSON.stringify({ key, version } satisfies SnapshotHead));
  const body = graph.serialize();
  const data = new Uint8Array(4 + head.length + body.length);
  new DataView(data.buffer).setUint32(0, head.length, true);
  data.set(head, 4);
  data.set(body, 4 + head.length);
  try {
    return await derived.write({ indexName: scope.indexName, name: nameOf(key), data });
  } catch (error) {
    if (isQuiverError(error, 'VECTOR_INDEX_NOT_FOUND')) return false;
    getDefaultLogger().warn(`The graph of '${scope.indexName}' could not be kept: ${toErrorMessage(error)}`);
    return false;
  }
}

function nameOf(key: string): string {
  return `graph-${contentHash(key)}`;
}
