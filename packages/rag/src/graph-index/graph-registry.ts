import type { VectorStore } from '../store/index.js';
import { keepGraph, readKeptGraph } from './graph-snapshot.js';
import { scopeKey, type GraphScope } from './graph-settings.js';
import { makeIndexGraph, type GraphProgress, type IndexGraph } from './index-graph.js';
import { startSharedTask, type SharedTask } from './shared-task.js';

/**
 * Passages of all graphs that are held for one store, at 1 to 3 KB each; the graphs that were not used for longest are let go.
 */
const maxNodesHeld = 250_000;
/** What a graph takes beside its passages, in passages: graphs without any would be held in any number. */
const nodesPerGraph = 100;

export interface Held {
  /** Of the last state; `null` when there were too many passages at the version `checked`. */
  graph: IndexGraph | null | undefined;
  /** The version that it was brought up to. */
  checked: string | undefined;
  task: SharedTask<void> | undefined;
  /** Whether graphs of the scope are kept beside the index. */
  isKept: boolean;
}

/** Graphs belong to the data: of one store, whichever tool asks. */
const graphsOf = new WeakMap<VectorStore, Map<string, Held>>();

export interface GraphRequest {
  readonly store: VectorStore;
  readonly scope: GraphScope;
  readonly maxNodes: number;
  /**
   * Whether the graph of a filter is kept beside the index too, and so are those that follow it. By default only the graph of the
   * whole index is: filters can be as many as questions.
   */
  readonly keep?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: GraphProgress) => void) | undefined;
}

/**
 * The graph of a scope as its data are now: held in memory, else read from beside the index, brought up to date where the data
 * changed, else made. Calls at the same time share one making.
 *
 * @returns `undefined` when the store cannot tell the version of its data, and when there are more passages than a graph may have
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
    // A task that began after the version was read sees at least as much.
    if (held.checked !== version) await shareTask(held, request, version);
  } finally {
    letGoOfUnused(graphs, maxNodesHeld);
  }
  if (keep && held.graph && !held.isKept) held.isKept = await keepGraph(store, scope, held.graph);
  return held.graph ?? undefined;
}

/** Waits for the making under way, or begins one. */
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
  const kept = held.graph ? undefined : await readKeptGraph(store, scope, request.signal);
  if (kept) held.isKept = true;
  const previous = held.graph ?? kept;
  const isCurrent = previous?.version === version;
  const graph = isCurrent ? previous : await makeIndexGraph({ ...request, version, previous });
  request.signal?.throwIfAborted();
  held.graph = graph ?? null;
  held.checked = version;
  if (graph && !isCurrent && (held.isKept || !scope.filter)) held.isKept = await keepGraph(store, scope, graph);
}

function holdFor(graphs: Map<string, Held>, key: string): Held {
  const held = graphs.get(key) ?? { graph: undefined, checked: undefined, task: undefined, isKept: false };
  // The last in the map is the one that was used last.
  graphs.delete(key);
  graphs.set(key, held);
  return held;
}

/** @param graphs - the one that was used last is the last; it stays, whatever its size */
export function letGoOfUnused(graphs: Map<string, Held>, maxNodes: number): void {
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
