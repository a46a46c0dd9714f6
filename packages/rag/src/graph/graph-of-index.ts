import { getDefaultLogger, isQuiverError, toErrorMessage, untilAborted } from '@quiver/core';
import {
  anyValue,
  checkOptions,
  functionValue,
  type OptionChecks,
  signalValue,
  stringValue,
  invalidOptions,
} from '@quiver/core/internal';
import { canonicalJson, contentHash } from '../document/content-hash.js';
import { parseFilter } from '../filter/index.js';
import type { VectorFilter, VectorStore } from '../store/index.js';
import { storeValue } from '../store/options.js';
import { readTrustedFilter, trustedFilterChecks, type TrustedFilterOptions } from '../store/scope.js';
import { vectorOfKey } from '../document/metadata-keys.js';
import { scanPages } from '../store/paging.js';
import { type BuildProgress, updateChunkGraph } from './build-chunk-graph.js';
import type { Edge } from './adjacency.js';
import { ChunkGraph, type GraphData } from './chunk-graph.js';
import { parseGraphOptions, resolveEdgeOptions, type EdgeOptions, type GraphOptions } from './graph-options.js';
import { toPassage, type GraphPassage } from './passage.js';

/** Progress of a build. */
export interface GraphProgress {
  phase: 'read' | 'connect';
  /** Passages read so far. */
  passages: number;
  /** Finished share of the phase, in [0, 1]; absent while it is not known. */
  done?: number;
}

/**
 * Options of `buildGraph()`. `filter` and `scope` as the calls have them: each tenant has a separate graph. Default: a graph of the whole
 * index.
 */
export interface BuildGraphOptions extends TrustedFilterOptions {
  /** Store of the index. */
  vectorStore: VectorStore;
  /** Index whose chunks become the nodes. */
  indexName: string;
  /** Options of the tool. Another `threshold`, `edges` or `maxNodes` is another graph. */
  graphOptions?: GraphOptions;
  /** Aborts the build. */
  signal?: AbortSignal | undefined;
  /** Called while the graph is built. */
  onProgress?: (progress: GraphProgress) => void;
}

const optionChecks: OptionChecks<BuildGraphOptions> = {
  vectorStore: storeValue,
  indexName: stringValue,
  graphOptions: anyValue,
  ...trustedFilterChecks,
  signal: signalValue,
  onProgress: functionValue,
};

/** Report of `buildGraph()`. */
export interface BuiltGraph {
  /** `false` when the index is larger than `maxNodes`, or its store has no versions: queries explore it then. */
  complete: boolean;
  nodes: number;
  edges: number;
}

/**
 * Builds or updates the graph of an index, and stores it with the index where the store supports it: in a file for `LocalVector`
 * with a path, in the table `quiver_derived` for `PgVector`. Queries do the same, except that they create no table, and store
 * the graph of a filter only after `buildGraph()` did so once. A build after ingestion saves the first query the wait.
 *
 * @throws `OPTIONS_INVALID` for an unknown or invalid option, `FILTER_INVALID`, and what the store throws
 * @example
 * await ingest({ documents, vectorStore, indexName: 'docs', model });
 * await buildGraph({ vectorStore, indexName: 'docs' });
 */
export async function buildGraph(options: BuildGraphOptions): Promise<BuiltGraph> {
  checkOptions('buildGraph', options, optionChecks);
  const { vectorStore: store, indexName, graphOptions, signal, onProgress } = options;
  const filter = readTrustedFilter(options);
  const { edges, maxNodes, maxCachedNodes } = parseGraphOptions('buildGraph', graphOptions);
  await store.derived?.prepare({ signal });
  const request = { store, indexName, filter, edges, maxNodes, maxCachedNodes, signal, onProgress };
  const graph = await findGraph({ ...request, keep: true });
  return { complete: graph !== undefined, nodes: graph?.ids.length ?? 0, edges: graph?.edgeCount ?? 0 };
}

/** Graph of a scope: of the records of an index that match a filter, with kinds of edges. Equal scopes have equal graphs. */
export interface GraphRequest {
  readonly store: VectorStore;
  readonly indexName: string;
  /** Filter of the application, for example of one tenant: other passages have no influence. */
  readonly filter: VectorFilter;
  readonly edges: EdgeOptions;
  readonly maxNodes: number;
  readonly maxCachedNodes: number;
  /**
   * Whether the graph of a filter is stored with the index too, now and after changes. By default only the graph of the whole
   * index is stored, because there can be as many filters as queries.
   */
  readonly keep?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: GraphProgress) => void) | undefined;
}

/** Passages that a graph counts as at least: otherwise any number of empty graphs would be cached. */
const fewestNodes = 100;

export interface Held {
  /** State of the scope at the last check; absent before the first build. */
  latest: VersionedGraph | undefined;
  task: BuildTask | undefined;
  /** Whether graphs of the scope are stored with the index. */
  isStored: boolean;
}

interface VersionedGraph {
  readonly version: string;
  /** `undefined` where there are more passages than a graph may have. */
  readonly graph: ChunkGraph | undefined;
}

/** A build that several callers wait for. A caller that gives up does not end it for the others; the last one does. */
interface BuildTask {
  readonly running: Promise<void>;
  readonly controller: AbortController;
  waiting: number;
}

/** Cached graphs by store and scope, for all tools. Each call bounds those of its store by its `maxCachedNodes`; see {@link evictUnused}. */
const graphsOf = new WeakMap<VectorStore, Map<string, Held>>();

/**
 * Returns the graph of a scope for the current data: from memory, otherwise from the store, updated where the data changed,
 * otherwise built. Concurrent calls share one build.
 *
 * @returns `undefined` when the store has no versions, and when there are more passages than a graph may have
 * @throws `FILTER_INVALID`, `OPTIONS_INVALID`, `signal.reason`, and what the store throws
 */
export async function findGraph(request: GraphRequest): Promise<ChunkGraph | undefined> {
  const { store, maxNodes, maxCachedNodes, keep = false } = request;
  const key = `${maxNodes} ${scopeKey(request)}`;
  const version = await readVersion(request);
  const graphs = graphsOf.get(store) ?? new Map<string, Held>();
  graphsOf.set(store, graphs);
  const held = graphs.get(key) ?? { latest: undefined, task: undefined, isStored: false };
  // The last entry of the map is the most recently used one.
  graphs.delete(key);
  if (version === undefined) return undefined;
  graphs.set(key, held);
  try {
    if (held.latest?.version !== version && held.task) await shareTask(held, request, version);
    // A task that began after the version was read sees at least that version.
    if (held.latest?.version !== version) await shareTask(held, request, version);
  } finally {
    evictUnused(graphs, maxCachedNodes);
  }
  const { latest } = held;
  if (keep && !held.isStored) await storeGraph(request, held);
  return latest?.graph;
}

/** Returns `undefined` when the store has no versions, and when there are more passages than a graph may have. */
async function readVersion({ store, indexName, filter, maxNodes, signal }: GraphRequest): Promise<string | undefined> {
  return store.version?.({ indexName, filter, maxRecords: maxNodes, signal });
}

/** Waits for the running build, or starts one. @throws its error, or `signal.reason` */
async function shareTask(held: Held, request: GraphRequest, version: string): Promise<void> {
  const { signal } = request;
  if (!held.task || held.task.controller.signal.aborted) {
    const controller = new AbortController();
    const running = bringUpToDate(held, { ...request, signal: controller.signal }, version).finally(() => {
      if (held.task === task) held.task = undefined;
    });
    const task: BuildTask = { running, controller, waiting: 0 };
    // Each waiting caller receives a failure. Without callers it is ignored.
    running.catch(() => {});
    held.task = task;
  }
  const { task } = held;
  task.waiting += 1;
  try {
    await untilAborted(() => task.running, signal);
  } finally {
    task.waiting -= 1;
    if (task.waiting === 0 && signal?.aborted) task.controller.abort(signal.reason);
  }
}

async function bringUpToDate(held: Held, request: GraphRequest, version: string): Promise<void> {
  const stored = held.latest ? undefined : await readStoredGraph(request, held);
  const isCurrent = stored?.version === version;
  const graph = isCurrent ? stored.graph : await buildGraphOfScope(request, held.latest?.graph);
  request.signal?.throwIfAborted();
  held.latest = { version, graph };
  if (!isCurrent && (held.isStored || !request.filter)) await storeGraph(request, held);
}

/** Evicts the least recently used graphs that are not being built. @param graphs - in the order of their use */
export function evictUnused(graphs: Map<string, Held>, maxNodes: number): void {
  let nodes = 0;
  for (const [key, { latest, task }] of [...graphs].toReversed()) {
    nodes += Math.max(fewestNodes, latest?.graph?.ids.length ?? 0);
    if (nodes > maxNodes && !task) graphs.delete(key);
  }
}

/**
 * Builds the graph of all records in a scope, from the current data. A change after the version was read leads to another version,
 * and the next query updates the graph.
 *
 * @param previous - graph of an earlier version. Neighbors of unchanged passages are not searched for again
 * @returns `undefined` when there are more passages than a graph may have
 */
async function buildGraphOfScope(
  { store, indexName, filter, edges, maxNodes, signal, onProgress }: GraphRequest,
  previous: ChunkGraph | undefined,
): Promise<ChunkGraph | undefined> {
  const target = { indexName, signal };
  const { dimension } = await store.describeIndex(target);
  const passages: GraphPassage[] = [];
  const rows: Float32Array[] = [];
  for await (const records of scanPages(store, { ...target, filter, includeVector: true })) {
    for (const record of records) {
      const { id, vector, metadata } = record;
      // A further vector of a chunk is not a passage.
      if (metadata[vectorOfKey] !== undefined) continue;
      if (passages.length === maxNodes) return undefined;
      if (vector?.length !== dimension) {
        throw invalidOptions(`The record '${id}' of '${indexName}' has no vector of ${dimension} numbers.`);
      }
      passages.push(toPassage(record));
      rows.push(Float32Array.from(vector));
    }
    onProgress?.({ phase: 'read', passages: passages.length });
  }
  const vectors = new Float32Array(rows.length * dimension);
  for (const [row, vector] of rows.entries()) vectors.set(vector, row * dimension);
  const progress = ({ done }: BuildProgress): void =>
    onProgress?.({ phase: 'connect', passages: passages.length, done });
  return updateChunkGraph({ passages, vectors, dimension, edges, signal, onProgress: progress }, previous);
}

/** Stored form of a graph: this as JSON in one line, and the graph as JSON in the next one. */
interface StoredHead {
  readonly format: number;
  readonly key: string;
  readonly version: string;
  /** Hash of the second line. */
  readonly hash: string;
}

/** Raise it with the form, and when equal passages get other edges. */
const format = 9;

/** An edge without a reason, whose kind is `similarity`, is shorter. */
type StoredEdge = [from: number, to: number, weight: number, kind?: string, reason?: string];

function toStored(version: string, { data }: ChunkGraph, key: string): Uint8Array {
  const edges = data.edges.map(({ from, to, weight, kind, reason }): StoredEdge => {
    return reason === undefined ? [from, to, weight] : [from, to, weight, kind, reason];
  });
  const body = JSON.stringify({ ...data, edges });
  const head: StoredHead = { format, key, version, hash: contentHash(body) };
  return new TextEncoder().encode(`${JSON.stringify(head)}\n${body}`);
}

/** Returns `undefined` for a graph of another scope or format. @throws for bytes that are damaged */
function fromStored(bytes: Uint8Array, key: string): VersionedGraph | undefined {
  const [first = '', body = ''] = new TextDecoder().decode(bytes).split('\n');
  const head = JSON.parse(first) as StoredHead;
  if (head.format !== format || head.key !== key) return undefined;
  if (head.hash !== contentHash(body)) throw new RangeError('it is damaged or incomplete');
  const data = JSON.parse(body) as Omit<GraphData, 'edges'> & { edges: StoredEdge[] };
  const edges = data.edges.map(([from, to, weight, kind = 'similarity', reason]): Edge => {
    return { from, to, weight, kind, reason };
  });
  return { version: head.version, graph: new ChunkGraph({ ...data, edges }) };
}

/**
 * Reads the graph that is stored with the index. Without a usable one it is built from the data, so a failure is a warning.
 *
 * @throws `signal.reason`
 */
async function readStoredGraph(request: GraphRequest, held: Held): Promise<VersionedGraph | undefined> {
  const { store, indexName, signal } = request;
  const key = scopeKey(request);
  try {
    const bytes = await store.derived?.read({ indexName, name: nameOf(key), signal });
    held.isStored = bytes !== undefined;
    // The store empties it when records are deleted.
    return bytes?.length ? fromStored(bytes, key) : undefined;
  } catch (error) {
    signal?.throwIfAborted();
    getDefaultLogger().warn(
      `The stored graph of '${indexName}' cannot be used and is built again: ${toErrorMessage(error)}`,
    );
    return undefined;
  }
}

/**
 * Stores the latest graph with its index, unless records were deleted or changed meanwhile: it must not contain deleted names. The graph in memory
 * serves without it, so a failure is a warning.
 *
 * @throws `signal.reason`
 */
async function storeGraph(request: GraphRequest, held: Held): Promise<void> {
  const { store, indexName, signal } = request;
  const { version = '', graph } = held.latest ?? {};
  if (!store.derived || !graph) return;
  const key = scopeKey(request);
  const data = toStored(version, graph, key);
  try {
    if ((await readVersion(request)) === version)
      held.isStored = await store.derived.write({ indexName, name: nameOf(key), data });
  } catch (error) {
    signal?.throwIfAborted();
    held.isStored = false;
    if (isQuiverError(error, 'VECTOR_INDEX_NOT_FOUND')) return;
    getDefaultLogger().warn(`The graph of '${indexName}' could not be stored: ${toErrorMessage(error)}`);
  }
}

function nameOf(key: string): string {
  return `graph-${contentHash(key)}`;
}

/** Returns a key that only equal scopes share. @throws `FILTER_INVALID`, `OPTIONS_INVALID` */
function scopeKey({ indexName, filter, edges }: GraphRequest): string {
  return canonicalJson([indexName, filterKey(filter), resolveEdgeOptions(edges)]);
}

/** Returns a key that only equal filters share. Equivalent filters in another notation may have another key. @throws `FILTER_INVALID` */
export function filterKey(filter: VectorFilter): string {
  // JSON of the filter as it was written would lose its regular expressions.
  return filter ? canonicalJson(parseFilter(filter)) : '';
}
