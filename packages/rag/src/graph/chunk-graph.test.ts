import { beforeAll, describe, expect, it } from 'vitest';
import { buildChunkGraph } from './build-chunk-graph.js';
import { bestOf, type ChunkGraph, type WalkOptions } from './chunk-graph.js';
import { weighByRank } from './rank-passages.js';

const documents: Record<string, string> = {
  film: 'Ed Wood was directed by Tim Burton.',
  director: 'Tim Burton was born in Burbank.',
  town: 'Burbank lies in California.',
  other: 'Nothing is named here.',
  far: 'nor here',
};
let graph: ChunkGraph;

beforeAll(async () => {
  graph = await buildChunkGraph({
    passages: Object.entries(documents).map(([id, document]) => ({ id, document, title: `The "${id}"`, position: 1 })),
    // The first three are similar to none.
    vectors: Float32Array.of(0, 0, 0, 0, 0, 0, -1, 1, -1, 0.5),
    dimension: 2,
  });
});

const idsOf = (options: Partial<WalkOptions> = {}, topK = 10): string[] =>
  bestOf(graph.walk({ seeds: [['film', 1]], ...options }).scores, topK).map(({ id }) => id);

describe('walk', () => {
  it('finds what is connected with the seeds over several steps, and shows the way', () => {
    const { scores, pathsTo } = graph.walk({ seeds: [['film', 1]] });
    const ranked = bestOf(scores, 10);
    expect(ranked.map(({ id }) => id)).toEqual(['film', 'director', 'town']);
    expect(ranked.map(({ score }) => score)).toEqual([...scores.values()].toSorted((a, b) => b - a));
    expect(ranked[0]?.score).toBe(1);
    const paths = pathsTo(['town', 'film', 'far']);
    expect(paths.get('film')).toEqual([]);
    expect(paths.get('far')).toBeUndefined();
    expect(paths.get('town')).toEqual([
      { from: 'film', to: 'director', kind: 'phrase', reason: 'both name “tim burton”', weight: expect.any(Number) },
      { from: 'director', to: 'town', kind: 'phrase', reason: 'both name “burbank”', weight: expect.any(Number) },
    ]);
  });

  it('weights seeds at any scale, and finds nothing without them', () => {
    const walk = (scale: number): unknown =>
      bestOf(graph.walk({ seeds: weighByRank(seeds).map(([id, weight]) => [id, weight * scale]) }).scores, 10);
    const seeds = ['other', 'town', 'far'].map((id) => ({ id, score: 1, metadata: {} }));
    expect(walk(1)).toEqual(walk(1024));
    expect(walk(1)).toMatchObject([{ id: 'other' }, { id: 'far' }, { id: 'town' }, { id: 'director' }, { id: 'film' }]);
    expect(idsOf({ seeds: [] })).toEqual([]);
    expect(idsOf({ seeds: [['far', 0]] })).toEqual([]);
  });

  it('lets passages that are not allowed be neither results nor steps, and asks about each once', () => {
    expect(idsOf({ allowed: (id) => id !== 'director' })).toEqual(['film']);
    const asked: string[] = [];
    idsOf({ seeds: [['town', 1]], allowed: (id) => asked.push(id) > 0 });
    expect(asked.toSorted()).toEqual(['director', 'film']);
  });

  it('reaches no further than its rounds', () => {
    expect(idsOf({ maxIterations: 1 })).toEqual(['film', 'director']);
    expect(idsOf({}, 1)).toEqual(['film']);
  });

  it('refuses an unknown seed', () => {
    expect(() => idsOf({ seeds: [['gone', 1]] })).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
  });
});

describe('a graph', () => {
  it('tells the edges of a passage in the direction away from it', () => {
    expect(graph.neighbors('director').map(({ from, to, reason }) => `${from} → ${to}: ${reason}`)).toEqual([
      'director → film: both name “tim burton”',
      'director → town: both name “burbank”',
    ]);
    expect(graph.neighbors('far').map(({ to, reason }) => `${to}: ${reason}`)).toEqual([
      'other: cosine similarity 0.95',
    ]);
    expect(() => graph.neighbors('gone')).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
    expect([graph.has('film'), graph.has('gone')]).toEqual([true, false]);
  });

  it('becomes JSON and DOT', () => {
    const { nodes, edges } = graph.toJSON();
    expect(nodes[0]).toEqual({ id: 'director', title: 'The "director"' });
    expect(edges).toHaveLength(graph.edgeCount);
    const dot = graph.toDOT().split('\n');
    expect(dot[0]).toBe('graph {');
    expect(dot[1]).toBe('  "director" [label="The \\"director\\""];');
    expect(dot).toContain('  "director" -- "film" [class="phrase", weight=31, tooltip="both name “tim burton”"];');
  });
});
