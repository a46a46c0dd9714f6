import { getDefaultLogger, isQuiverError, toErrorMessage } from '@quiver/core';
import { contentHash } from '../document/content-hash.js';
import type { VectorStore } from '../store/index.js';
import { ChunkGraph } from './chunk-graph.js';
import { scopeKey, type GraphScope } from './graph-settings.js';
import { makeIndexGraph, type GraphProgress, type IndexGraph } from './index-graph.js';
import { startSharedTask, type SharedTask } from './shared-task.js';

/** Passages of all cached graphs of one store, at 1 to 3 KB each. The least recently used graphs are evicted. */
const maxNodesHeld = 250_000;
/** Cost of a graph in addition to its passages, in passages: otherwise any number of empty graphs would be cached. */
const nodesPerGraph = 100;

export interface Held {
  /** Graph of the last state; `null` when there were too many passages at the version `checked`. */
  graph: IndexGraph | null | undefined;
  /** Version of the data at the last check. */
  checked: string | undefined;
  task: SharedTask<void> | undefined;
  /** Whether graphs of the scope are stored with the index. */
  isStored: boolean;
}

/** Cached graphs by store and scope, for all tools. Bounded by `maxNodesHeld` per store; see {@link evictUnused}. */
const graphsOf = new WeakMap<VectorStore, Map<string, Held>>();

export interface GraphRequest {
  readonly store: VectorStore;
  readonly scope: GraphScope;
  readonly maxNodes: number;
  /**
   * Whether the graph of a filter is stored with the index too, now and after changes. By default only the graph of the whole
   * index is stored, because there can be as many filters as queries.
   */
  readonly keep?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: GraphProgress) => void) | undefined;
}

/**
 * Returns the graph of a scope for the current data: from memory, otherwise from the store, updated where the data changed,
 * otherwise built. Concurrent calls share one build.
 *
 * @returns `undefined` when the store has no versions, and when there are more passages than a graph may have
 */
export async function findGraph(request: GraphRequest): Promise<IndexGraph | undefined> {
  const { store, scope, maxNodes, keep = false, signal } = request;
  if (!store.version) return undefined;
  const { indexName, filter } = scope;
  const key = `${maxNodes} ${scopeKey(scope)}`;
  const version = await store.version({ indexName, filter, maxRecords: maxNodes, ...(signal && { signal }) });
  const graphs = graphsOf.get(store) ?? new Map<string, Held>();
  graphsOf.set(store, graphs);
  if (version === undefined) {
    graphs.delete(key);
    return undefined;
  }
  const held = holdFor(graphs, key);
  try {
    if (held.checked !== version && held.task) await shareTask(held, request, version);
    // A task that began after the version was read sees at least that version.
    if (held.checked !== version) await shareTask(held, request, version);
  } finally {
    evictUnused(graphs, maxNodesHeld);
  }
  if (keep && held.graph && !held.isStored) held.isStored = await storeGraph(store, scope, held.graph);
  return held.graph ?? undefined;
}

/** Waits for the running build, or starts one. */
async function shareTask(held: Held, request: GraphRequest, version: string): Promise<void> {
  if (!held.task || held.task.isAbandoned) {
    const task = startSharedTask((signal) =>
      bringUpToDate(held, { ...request, signal }, version).finally(() => {
        if (held.task === task) held.task = undefined;
      }),
    );
    held.task = task;
  }
  await held.task.wait(request.signal);
}

async function bringUpToDate(held: Held, request: GraphRequest, version: string): Promise<void> {
  const { store, scope } = request;
  const stored = held.graph ? undefined : await readStoredGraph(store, scope, request.signal);
  if (stored) held.isStored = true;
  const previous = held.graph ?? stored;
  const isCurrent = previous?.version === version;
  const graph = isCurrent ? previous : await makeIndexGraph({ ...request, version, previous });
  request.signal?.throwIfAborted();
  held.graph = graph ?? null;
  held.checked = version;
  if (graph && !isCurrent && (held.isStored || !scope.filter)) held.isStored = await storeGraph(store, scope, graph);
}

function holdFor(graphs: Map<string, Held>, key: string): Held {
  const held = graphs.get(key) ?? { graph: undefined, checked: undefined, task: undefined, isStored: false };
  // The last entry of the map is the most recently used one.
  graphs.delete(key);
  graphs.set(key, held);
  return held;
}

/** Evicts the least recently used graphs. @param graphs - in the order of their use; the last one stays at any size */
export function evictUnused(graphs: Map<string, Held>, maxNodes: number): void {
  const [last, ...others] = [...graphs].toReversed();
  let nodes = last ? nodesOf(last[1]) : 0;
  for (const [key, held] of others) {
    nodes += nodesOf(held);
    if (nodes > maxNodes && !held.task) graphs.delete(key);
  }
}

function nodesOf({ graph }: Held): number {
  return nodesPerGraph + (graph?.graph.ids.length ?? 0);
}

interface SnapshotHead {
  key: string;
  version: string;
}

/**
 * Reads the graph that is stored with the index. Without a usable one it is built from the data, so a failure is a warning.
 *
 * @throws `signal.reason`
 */
async function readStoredGraph(
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
      `The stored graph of '${indexName}' cannot be used and is built again: ${toErrorMessage(error)}`,
    );
    return undefined;
  }
}

/** Stores a graph with its index. The graph in memory serves without it, so a failure is a warning. @returns whether it is stored */
async function storeGraph(
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
    getDefaultLogger().warn(`The graph of '${scope.indexName}' could not be stored: ${toErrorMessage(error)}`);
    return false;
  }
}

function nameOf(key: string): string {
  return `graph-${contentHash(key)}`;
}
