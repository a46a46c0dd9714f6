import type { VectorMetadata } from '../store/index.js';
import { graphInvalid } from './graph-error.js';

export interface GraphNode {
  id: string;
  content: string;
  embedding?: readonly number[] | Float32Array;
  metadata?: VectorMetadata;
}

export interface GraphEdge {
  source: string;
  target: string;
  /** Positive; for `semantic` edges the cosine similarity. */
  weight: number;
  /** `semantic`, or your own kind. */
  type: string;
}

/** A graph as JSON data, in the format of Mastra. */
export interface GraphSnapshot {
  version: 1;
  dimension: number;
  threshold: number;
  nodes: GraphNode[];
  /** Each edge in both directions. */
  edges: GraphEdge[];
}

/**
 * Checks JSON data, as far as `addNode` and `addEdge` do not, and returns them with each edge once.
 *
 * @throws `GRAPH_INVALID`
 */
export function parseGraphSnapshot(input: unknown): GraphSnapshot {
  const snapshot = (input ?? {}) as GraphSnapshot;
  const { version, nodes, edges } = snapshot as { version: unknown; nodes: unknown; edges: unknown };
  if (version !== 1) throw graphInvalid(`Unsupported GraphRAG snapshot version: ${String(version)}`);
  if (!Array.isArray(nodes) || !Array.isArray(edges)) {
    throw graphInvalid('This is not the snapshot of a GraphRAG: it has no lists of nodes and edges');
  }
  const ids = new Set<unknown>();
  for (const node of nodes as (Partial<GraphNode> | null)[]) {
    if (typeof node?.id !== 'string') throw graphInvalid(`Node ${ids.size} of the snapshot has no id`);
    if (typeof node.content !== 'string') throw graphInvalid(`Node '${node.id}' of the snapshot has no content`);
    ids.add(node.id);
  }
  for (const edge of edges as (Partial<GraphEdge> | null)[]) {
    for (const id of [edge?.source, edge?.target])
      if (!ids.has(id)) throw graphInvalid(`Edge references unknown node: ${String(id)}`);
  }
  return { ...snapshot, edges: eachOnce(snapshot.edges) };
}

function eachOnce(edges: readonly GraphEdge[]): GraphEdge[] {
  /** Edges whose other direction was not seen yet. */
  const halves = new Map<string, number>();
  return edges.filter(({ source, target, weight, type }) => {
    const reverse = JSON.stringify([target, source, weight, type]);
    const waiting = halves.get(reverse) ?? 0;
    if (waiting > 0) {
      halves.set(reverse, waiting - 1);
      return false;
    }
    const own = JSON.stringify([source, target, weight, type]);
    halves.set(own, (halves.get(own) ?? 0) + 1);
    return true;
  });
}
