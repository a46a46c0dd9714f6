import { describe, expect, it } from 'vitest';
import { expectError } from '../../../../scripts/test-error.ts';
import { GraphRAG, type GraphEdge } from './graph-rag.js';

/** Two subjects, each with its own direction, and one passage between them. */
const chunks = ['cats purr', 'cats sleep', 'pets and boats', 'boats sail', 'boats sink'].map((text, number) => ({
  text,
  metadata: { subject: number < 2 ? 'cats' : number > 2 ? 'boats' : 'both', number },
}));
const embeddings = [
  { vector: [1, 0, 0] },
  { vector: [0.95, 0.1, 0] },
  { vector: [0.7, 0.7, 0] },
  { vector: [0.1, 0.95, 0] },
  { vector: [0, 1, 0] },
];

function createPets(): GraphRAG {
  const graph = new GraphRAG(3, 0.6);
  graph.createGraph(chunks, embeddings);
  return graph;
}

const ids = (graph: GraphRAG, query: number[], options: object = {}): string[] =>
  graph.query({ query, ...options }).map(({ id }) => id);

describe('GraphRAG', () => {
  it('connects passages whose similarity is above the threshold, in both directions', () => {
    const graph = createPets();
    expect(graph.getNodes().map(({ id, content }) => [id, content])).toEqual(
      chunks.map(({ text }, n) => [String(n), text]),
    );
    const edges = graph.getEdgesByType('semantic');
    const pairs = edges.map(({ source, target }) => `${source}-${target}`);
    expect(pairs.toSorted()).toEqual([
      '0-1',
      '0-2',
      '1-0',
      '1-2',
      '2-0',
      '2-1',
      '2-3',
      '2-4',
      '3-2',
      '3-4',
      '4-2',
      '4-3',
    ]);
    expect(edges.find(({ source, target }) => source === '0' && target === '2')?.weight).toBeCloseTo(Math.SQRT1_2, 4);
  });

  it('finds what is like the question first, then what is connected with it', () => {
    const graph = createPets();
    const found = graph.query({ query: [1, 0, 0], topK: 5, restartProb: 0.5 });
    expect(found[0]).toMatchObject({
      content: expect.stringMatching(/^cats/),
      metadata: { subject: 'cats' },
      score: 1,
    });
    expect(new Set(found.slice(0, 3).map(({ id }) => id))).toEqual(new Set(['0', '1', '2']));
    expect(found.every(({ score }, n) => score > 0 && score <= (found[n - 1]?.score ?? 1))).toBe(true);
  });

  it('finds, through an edge, a passage that is not like the question at all', () => {
    const graph = createPets();
    graph.addNode({ id: 'vet', content: 'The vet treats cats.', embedding: [0, 0, 1] });
    expect(ids(graph, [1, 0, 0])).not.toContain('vet');
    graph.addEdge({ source: '0', target: 'vet', weight: 1, type: 'mentions' });
    expect(ids(graph, [1, 0, 0])).toContain('vet');
    expect(graph.getEdgesByType('mentions')).toEqual<GraphEdge[]>([
      { source: '0', target: 'vet', weight: 1, type: 'mentions' },
      { source: 'vet', target: '0', weight: 1, type: 'mentions' },
    ]);
  });

  it('gives the same answer a hundred times, and after it was stored and read again', () => {
    const graph = createPets();
    const first = graph.query({ query: [0.9, 0.4, 0.1] });
    for (let repeat = 0; repeat < 100; repeat += 1) expect(graph.query({ query: [0.9, 0.4, 0.1] })).toEqual(first);
    const copy = GraphRAG.deserialize(JSON.parse(JSON.stringify(graph.serialize())));
    expect(copy.query({ query: [0.9, 0.4, 0.1] })).toEqual(first);
  });

  it('lets nothing that the filter excludes take part, not even as a step between others', () => {
    const graph = createPets();
    expect(ids(graph, [1, 0, 0], { filter: { subject: 'cats' } }).toSorted()).toEqual(['0', '1']);
    const withoutBridge = ids(graph, [1, 0, 0], { filter: { subject: { $ne: 'both' } }, topK: 5 });
    expect(withoutBridge).not.toContain('2');
    expect(ids(graph, [1, 0, 0], { filter: { subject: 'dogs' } })).toEqual([]);
    expectError(() => ids(graph, [1, 0, 0], { filter: { subject: { $like: 'c' } } }), 'FILTER_INVALID');
  });

  it('orders equal ranks by id', () => {
    const graph = new GraphRAG(2, 0.9);
    for (const id of ['b', 'a', 'c']) graph.addNode({ id, content: id, embedding: [1, 0] });
    expect(ids(graph, [1, 0])).toEqual(['a', 'b', 'c']);
  });

  it('replaces a node of the same id, updates contents, and forgets everything on request', () => {
    const graph = createPets();
    graph.updateNodeContent('0', 'cats purr loudly');
    graph.addNode({ id: '4', content: 'replaced', embedding: [0, 0, 1] });
    expect(graph.getNodes().map(({ content }) => content)).toEqual([
      'cats purr loudly',
      'cats sleep',
      'pets and boats',
      'boats sail',
      'replaced',
    ]);
    expect(ids(graph, [0, 0, 1])[0]).toBe('4');
    graph.clear();
    expect(graph.getNodes()).toEqual([]);
    expect(ids(graph, [1, 0, 0])).toEqual([]);
  });

  it('connects a passage with the twenty most similar ones at most', () => {
    const graph = new GraphRAG(2, 0);
    const many = Array.from({ length: 60 }, (_, n) => [Math.cos(n / 100), Math.sin(n / 100)]);
    graph.createGraph(
      many.map((_, n) => ({ text: String(n) })),
      many.map((vector) => ({ vector })),
    );
    const edges = graph.getEdges();
    expect(edges.length).toBeLessThanOrEqual(60 * 20 * 2);
    expect(edges.filter(({ source }) => source === '0')).toHaveLength(20);
  });

  it('keeps the kinds of edges apart, however many there are', () => {
    const graph = createPets();
    for (let n = 0; n < 300; n += 1) graph.addEdge({ source: '0', target: '4', weight: 1, type: `kind ${n}` });
    expect(graph.getEdgesByType('kind 0')).toHaveLength(2);
    expect(graph.getEdgesByType('kind 299')).toHaveLength(2);
  });

  it('is unchanged after new passages are rejected', () => {
    const graph = createPets();
    const before = graph.serialize();
    for (const value of [Number.NaN, 1e39, null as unknown as number]) {
      const bad = embeddings.with(4, { vector: [value, 0, 1] });
      expect(() => graph.createGraph(chunks, bad)).toThrow("The embedding of node '4' must hold finite numbers");
      expect(graph.serialize()).toEqual(before);
    }
  });

  it('becomes DOT', () => {
    const dot = createPets().toDOT().split('\n');
    expect(dot).toContain('  "0" [label="cats purr"];');
    expect(dot).toContain('  "0" -- "2" [class="semantic", weight=71, tooltip="cosine similarity 0.71"];');
    expect(dot.filter((line) => line.includes(' -- '))).toHaveLength(6);
  });

  it('becomes DOT without halves of characters where texts are cut', () => {
    const graph = new GraphRAG(1);
    graph.addNode({ id: 'a', content: `x${'😀'.repeat(40)}`, embedding: [1] });
    expect(graph.toDOT()).toContain(`label="x${'😀'.repeat(29)}"`);
  });

  it.each([0, 1])('is built and asked in bounded time and space: 10,000 nodes, threshold %d', (threshold) => {
    const graph = new GraphRAG(8, threshold);
    const count = 10_000;
    // A third each of vectors without direction, equal vectors, and others.
    const vectorOf = (n: number): number[] =>
      Array.from({ length: 8 }, (_, place) => (n % 3 === 0 ? 0 : n % 3 === 1 ? 1 : Math.sin(n * n + place * 7)));
    graph.createGraph(
      Array.from({ length: count }, (_, n) => ({ text: String(n) })),
      Array.from({ length: count }, (_, n) => ({ vector: vectorOf(n) })),
    );
    const similar = graph.getEdges().length;
    expect(similar).toBeLessThanOrEqual(count * 20 * 2);
    // Equal vectors have a similarity of 1, which is not above 1.
    expect(similar > 0).toBe(threshold === 0);
    for (let n = 0; n < count; n += 1) {
      graph.addEdge({ source: String(n), target: String((n + 1) % count), weight: 1, type: 'circle' });
    }
    const found = graph.query({ query: vectorOf(2), topK: 50 });
    expect(found).toHaveLength(50);
    expect(found.every(({ score }) => score > 0 && score <= 1)).toBe(true);
    expect(graph.query({ query: vectorOf(0) })).toEqual([]);
  });

  const edgeToNowhere = { source: '0', target: 'x', weight: 1, type: 't' };
  const weightless = { source: '0', target: '1', weight: 0, type: 't' };
  const withNode = (graph: GraphRAG, node: unknown): ReturnType<GraphRAG['serialize']> => {
    const { nodes, ...rest } = graph.serialize();
    return { ...rest, nodes: [...nodes, node as never] };
  };

  it.each<[string, (graph: GraphRAG) => unknown]>([
    ['Node must have an embedding', (graph) => graph.addNode({ id: 'x', content: 'x' })],
    ['Embedding dimension must be 3', (graph) => graph.addNode({ id: 'x', content: 'x', embedding: [1] })],
    ['Both source and target nodes must exist', (graph) => graph.addEdge(edgeToNowhere)],
    ['must be positive', (graph) => graph.addEdge(weightless)],
    ['Chunks and embeddings arrays must not be empty', (graph) => graph.createGraph([], [])],
    ['Chunks and embeddings must have the same length', (graph) => graph.createGraph(chunks, embeddings.slice(1))],
    ['Query embedding must have dimension 3', (graph) => graph.query({ query: [1] })],
    ['TopK must be greater than 0', (graph) => graph.query({ query: [1, 0, 0], topK: 0 })],
    ['Random walk steps must be greater than 0', (graph) => graph.query({ query: [1, 0, 0], randomWalkSteps: 0 })],
    ['Restart probability must be between 0 and 1', (graph) => graph.query({ query: [1, 0, 0], restartProb: 0 })],
    ["There is no node 'x'", (graph) => graph.updateNodeContent('x', 'y')],
    ['dimension of a graph must be a positive integer', () => new GraphRAG(0)],
    ['threshold must be a finite number', () => new GraphRAG(3, Number.NaN)],
    ['The embedding of the query must hold finite numbers', (graph) => graph.query({ query: [1, null as never, 0] })],
    ['snapshot version: undefined', () => GraphRAG.deserialize(null as never)],
    ['Node 5 of the snapshot has no id', (graph) => GraphRAG.deserialize(withNode(graph, null))],
    [
      "Node 'x' of the snapshot has no content",
      (graph) => GraphRAG.deserialize(withNode(graph, { id: 'x', embedding: [1, 0, 0] })),
    ],
    ['no lists of nodes and edges', () => GraphRAG.deserialize({ version: 1 } as never)],
    [
      'Unsupported GraphRAG snapshot version: 2',
      (graph) => GraphRAG.deserialize({ ...graph.serialize(), version: 2 as 1 }),
    ],
    [
      'Edge references unknown node: x',
      (graph) => GraphRAG.deserialize({ ...graph.serialize(), edges: [edgeToNowhere] }),
    ],
  ])('refuses what is invalid: %s', (message, act) => {
    const graph = createPets();
    expectError(() => act(graph), 'OPTIONS_INVALID', message);
    expect(graph.getNodes()).toHaveLength(5);
  });
});
