import type { VectorStore } from '../store/index.js';
import { keepGraph, readKeptGraph } from './graph-snapshot.js';
import { scopeKey, type GraphScope } from './graph-settings.js';
import { makeIndexGraph, type GraphProgress, type IndexGraph } from './index-graph.js';
import { startSharedTask, type SharedTask } from './shared-task.js';

/** Passages of all graphs that are held for one store; the graphs that were not used for longest are let go. */
const maxNodesHeld = 1_000_000;

export interface Held {
  /** Of the last state; `null` when there were too many passages at the version `checked`. */
  graph: IndexGraph | null | undefined;
  /** The version that it was brought up to. */
  checked: string | undefined;
  task: SharedTask<void> | undefined;
}

/** Graphs belong to the data: of one store, whichever tool asks. */
const graphsOf = new WeakMap<VectorStore, Map<string, Held>>();

export interface GraphRequest {
  readonly store: VectorStore;
  readonly scope: GraphScope;
  readonly maxNodes: number;
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
  const { store, scope, maxNodes, signal } = request;
  if (!store.version) return undefined;
  const { indexName, filter } = scope;
  const held = holdFor(store, `${maxNodes} ${scopeKey(scope)}`);
  const version = await store.version({ indexName, filter, maxRecords: maxNodes, ...(signal && { signal }) });
  if (version === undefined) return undefined;
  if (held.checked !== version && held.task) await shareTask(held, request, version);
  // A task that began after the version was read sees at least as much.
  if (held.checked !== version) await shareTask(held, request, version);
  letGoOfUnused(graphsOf.get(store) as Map<string, Held>, maxNodesHeld);
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
  const previous = held.graph ?? (await readKeptGraph(store, scope, request.signal));
  const isCurrent = previous?.version === version;
  const graph = isCurrent ? previous : await makeIndexGraph({ ...request, version, previous });
  held.graph = graph ?? null;
  held.checked = version;
  if (graph && !isCurrent) await keepGraph(store, scope, graph);
}

function holdFor(store: VectorStore, key: string): Held {
  const graphs = graphsOf.get(store) ?? new Map<string, Held>();
  graphsOf.set(store, graphs);
  const held = graphs.get(key) ?? { graph: undefined, checked: undefined, task: undefined };
  // The last in the map is the one that was used last.
  graphs.delete(key);
  graphs.set(key, held);
  return held;
}

/** @param graphs - the one that was used last is the last */
export function letGoOfUnused(graphs: Map<string, Held>, maxNodes: number): void {
  let nodes = 0;
  for (const [key, { graph, task }] of [...graphs].toReversed()) {
    nodes += graph?.graph.ids.length ?? 0;
    if (nodes > maxNodes && !task) graphs.delete(key);
  }
}
