import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildChunkGraph } from './build-chunk-graph.js';
import { ChunkGraph, type RankOptions } from './chunk-graph.js';

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

const idsOf = (options: Partial<RankOptions> = {}): string[] =>
  graph.rank({ seeds: [{ id: 'film', score: 0.8 }], ...options }).map(({ id }) => id);

describe('rank', () => {
  it('finds what is connected with the seeds over several steps, and shows the way', () => {
    const ranked = graph.rank({ seeds: [{ id: 'film', score: 0.8 }] });
    expect(ranked.map(({ id }) => id)).toEqual(['film', 'director', 'town']);
    expect(ranked.map(({ score }) => score)).toEqual(ranked.map(({ score }) => score).toSorted((a, b) => b - a));
    expect(ranked[0]).toEqual({ id: 'film', score: 1, path: [] });
    expect(ranked[2]?.path).toEqual([
      { from: 'film', to: 'director', kind: 'phrase', reason: 'both name “tim burton”', weight: expect.any(Number) },
      { from: 'director', to: 'town', kind: 'phrase', reason: 'both name “burbank”', weight: expect.any(Number) },
    ]);
  });

  it('weights seeds by rank, at any scale of their scores', () => {
    const rank = (scale: number): unknown =>
      graph.rank({ seeds: ['other', 'town', 'far'].map((id, n) => ({ id, score: scale * (1 - n / 10) })) });
    expect(rank(1)).toEqual(rank(0.001));
    expect(rank(1)).toMatchObject([{ id: 'other' }, { id: 'far' }, { id: 'town' }, { id: 'director' }, { id: 'film' }]);
  });

  it('keeps the order of the caller for seeds of equal score', () => {
    const rank = (...ids: string[]): string | undefined =>
      graph.rank({ seeds: ids.map((id) => ({ id, score: 0.5 })) })[0]?.id;
    expect(rank('other', 'far')).toBe('other');
    expect(rank('far', 'other')).toBe('far');
  });

  it('leaves out seeds without a score, and finds nothing without seeds', () => {
    const seeds = [
      { id: 'town', score: 0 },
      { id: 'far', score: -1 },
    ];
    expect(idsOf({ seeds })).toEqual([]);
    expect(idsOf({ seeds: [] })).toEqual([]);
    expect(idsOf({ seeds: [...seeds, { id: 'film', score: 1e-9 }] })[0]).toBe('film');
  });

  it('lets passages that are not allowed be neither seeds nor results nor steps', () => {
    expect(idsOf({ allowed: (id) => id !== 'director' })).toEqual(['film']);
    expect(idsOf({ allowed: (id) => id !== 'film' })).toEqual([]);
  });

  it('ranks as if seeds that are not allowed had not been found', () => {
    const rest = [
      { id: 'town', score: 0.8 },
      { id: 'far', score: 0.7 },
    ];
    const allowed = (id: string): boolean => id !== 'other';
    const ranked = graph.rank({ seeds: [{ id: 'other', score: 0.9 }, ...rest], allowed });
    expect(ranked).toEqual(graph.rank({ seeds: rest, allowed }));
  });

  it('asks about each passage once', () => {
    const asked: string[] = [];
    const allowed = (id: string): boolean => asked.push(id) > 0;
    graph.rank({ seeds: [{ id: 'town', score: 1 }], allowed });
    expect(asked.toSorted()).toEqual(['director', 'film', 'town']);
  });

  it('reaches no further than its rounds', () => {
    expect(idsOf({ maxIterations: 1 })).toEqual(['film', 'director']);
    expect(idsOf({ topK: 1 })).toEqual(['film']);
  });

  it('gives the same a hundred times, bit by bit, and after it was stored and read again', () => {
    const seeds = [
      { id: 'director', score: 0.7 },
      { id: 'far', score: 0.7 },
    ];
    const first = JSON.stringify(graph.rank({ seeds }));
    const copy = ChunkGraph.deserialize(graph.serialize());
    for (let repeat = 0; repeat < 100; repeat += 1) expect(JSON.stringify(graph.rank({ seeds }))).toBe(first);
    expect(JSON.stringify(copy.rank({ seeds }))).toBe(first);
  });

  it.each<[string, Partial<RankOptions>, string, string]>([
    ['an unknown seed', { seeds: [{ id: 'gone', score: 1 }] }, 'GRAPH_SEED_UNKNOWN', "no passage 'gone'"],
    [
      'a score that is no number',
      { seeds: [{ id: 'film', score: Number.NaN }] },
      'OPTIONS_INVALID',
      'must be a number',
    ],
    ['a seed without a score', { seeds: [{ id: 'film' } as never] }, 'OPTIONS_INVALID', 'must be a number'],
    ['topK 0', { topK: 0 }, 'OPTIONS_INVALID', 'TopK'],
    ['no rounds', { maxIterations: 0 }, 'OPTIONS_INVALID', 'Random walk steps'],
    ['a restart probability of 1', { restartProb: 1 }, 'OPTIONS_INVALID', 'Restart probability'],
    ['a negative tolerance', { tolerance: -1 }, 'OPTIONS_INVALID', 'tolerance'],
  ])('refuses %s', (_what, options, code, message) => {
    expect(() => idsOf(options)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }));
  });

  it('agrees with ranks without tolerance on what matters', async () => {
    const passages = Array.from({ length: 300 }, (_, n) => ({ id: `p${n}`, document: `Name${n % 70} Place${n % 53}` }));
    const large = await buildChunkGraph({ passages, vectors: new Float32Array(300), dimension: 1 });
    const seeds = fc.uniqueArray(fc.integer({ min: 0, max: 299 }), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(seeds, (numbers) => {
        const found = numbers.map((n, place) => ({ id: `p${n}`, score: 1 / (place + 1) }));
        const exact = large.rank({ seeds: found, tolerance: 1e-14, maxIterations: 10_000 });
        const close = large.rank({ seeds: found });
        close.forEach(({ score }, place) => expect(score).toBeCloseTo(exact[place]?.score as number, 5));
      }),
    );
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

  it('survives being stored, with all that an update needs', async () => {
    const copy = ChunkGraph.deserialize(graph.serialize());
    expect(copy.toJSON()).toEqual(graph.toJSON());
    expect(copy.serialize()).toEqual(graph.serialize());
    const empty = await buildChunkGraph({ passages: [], vectors: new Float32Array(0), dimension: 3 });
    expect(ChunkGraph.deserialize(empty.serialize()).toJSON()).toEqual({ nodes: [], edges: [] });
  });

  it('rejects bytes that are not a graph, cut or changed at any position', () => {
    const bytes = graph.serialize();
    const refused = expect.objectContaining({ code: 'GRAPH_INVALID' });
    for (let length = 0; length < bytes.length; length += 7) {
      expect(() => ChunkGraph.deserialize(bytes.slice(0, length))).toThrow(refused);
    }
    const version = bytes.slice();
    version[3] = 9;
    expect(() => ChunkGraph.deserialize(version)).toThrow('Unsupported version of the snapshot of a graph: 9');
    for (let place = 0; place < bytes.length; place += 1) {
      const changed = bytes.with(place, (bytes[place] as number) ^ 1);
      expect(() => ChunkGraph.deserialize(changed)).toThrow(refused);
    }
    expect(() => ChunkGraph.deserialize(Uint8Array.of(...bytes, 0))).toThrow(refused);
    expect(() => ChunkGraph.deserialize([...bytes] as never)).toThrow(refused);
    const wrongNode = bytes.slice();
    wrongNode.fill(0xff, -20);
    expect(() => ChunkGraph.deserialize(wrongNode)).toThrow(refused);
  });
});
