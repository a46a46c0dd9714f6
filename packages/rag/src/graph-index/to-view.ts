import type { ChunkEdge, ChunkGraph } from '../graph/chunk-graph.js';
import type { GraphView, GraphViewNode } from '../graph/view/graph-view.js';
import type { VectorRecord } from '../store/index.js';
import type { GraphAnswer, GraphQuestion } from './query-graph.js';
import { readRecords } from './read-records.js';
import { toPassage } from './to-passage.js';

/** Passages of a picture at most: more cannot be read. */
const maxNodes = 36;
const neighboursPerPassage = 3;
const titleLength = 60;

/** The neighbourhood of an answer, to be drawn: what was found, the ways to it, and a few passages around. */
export async function toView(question: GraphQuestion, answer: GraphAnswer): Promise<GraphView> {
  const { graph, found, seeds } = answer;
  const ids = chooseNodes(answer);
  const records = new Map(answer.records);
  const missing = [...ids].filter((id) => !records.has(id));
  for (const [id, record] of await readRecords(question, missing)) records.set(id, record);
  const scores = new Map(seeds.map(({ id, score }) => [id, score]));
  const nodes = [...ids].flatMap((id) => {
    const record = records.get(id);
    return record ? [toNode(record, scores.get(id))] : [];
  });
  const shown = new Set(nodes.map(({ id }) => id));
  return {
    query: question.queryText,
    nodes,
    edges: edgesAmong(graph, shown),
    ranking: found.map(({ record: { id }, score, path }) => ({ id, score, path })),
  };
}

/** What was found with the steps to it first, then the passages that the question matched, then neighbours. */
function chooseNodes({ graph, found, seeds, isAllowed }: GraphAnswer): Set<string> {
  const ids = new Set<string>();
  for (const { record, path } of found) {
    for (const { from } of path) ids.add(from);
    ids.add(record.id);
  }
  const further = [
    ...seeds.map(({ id }) => id),
    ...found.flatMap(({ record: { id } }) => heaviest(graph.neighbours(id)).map(({ to }) => to)),
  ];
  for (const id of further) if (ids.size < maxNodes && isAllowed(id)) ids.add(id);
  return ids;
}

function heaviest(edges: readonly ChunkEdge[]): ChunkEdge[] {
  return edges.toSorted((a, b) => b.weight - a.weight).slice(0, neighboursPerPassage);
}

function edgesAmong(graph: ChunkGraph, ids: ReadonlySet<string>): ChunkEdge[] {
  return [...ids].flatMap((id) => graph.neighbours(id).filter(({ to }) => id < to && ids.has(to)));
}

function toNode(record: VectorRecord, seedScore: number | undefined): GraphViewNode {
  const { id, document, source } = toPassage(record);
  return {
    id,
    title: titleOf(record),
    text: document,
    ...(source !== undefined && { source }),
    ...(seedScore !== undefined && { seedScore }),
  };
}

function titleOf(record: VectorRecord): string {
  const { title, source, document } = toPassage(record);
  const headings: unknown = record.metadata['headings'];
  const heading: unknown = Array.isArray(headings) ? headings.at(-1) : undefined;
  const texts = [heading, title, document, source].map((text) => (typeof text === 'string' ? toLine(text) : ''));
  return texts.find((text) => text !== '') ?? record.id;
}

/** A page repeats the title of a passage at each of its connections, so it must be short, whatever the metadata hold. */
function toLine(text: string): string {
  const line = text.trimStart().slice(0, 1000).trimEnd().replaceAll(/\s+/g, ' ');
  // What is cut off must not be half a character.
  return line.length > titleLength ? `${line.slice(0, titleLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…` : line;
}
