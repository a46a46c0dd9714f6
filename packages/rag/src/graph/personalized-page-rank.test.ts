import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAdjacency } from './adjacency.js';
import { personalizedPageRank } from './personalized-page-rank.js';

interface WeightedEdge {
  from: number;
  to: number;
  weight: number;
}

const graphs = fc.integer({ min: 1, max: 12 }).chain((nodeCount) => {
  const node = fc.integer({ min: 0, max: nodeCount - 1 });
  const weight = fc.double({ min: 0.01, max: 10, noNaN: true });
  const edge = fc.record({ from: node, to: node, weight, kind: fc.constant('kind'), reason: fc.constant('reason') });
  return fc.record({
    nodeCount: fc.constant(nodeCount),
    edges: fc.array(edge, { maxLength: 40 }),
    seeds: fc.uniqueArray(node, { minLength: 1, maxLength: nodeCount }),
    restartProb: fc.double({ min: 0.05, max: 0.95, noNaN: true }),
    inertia: fc.constantFrom(0, 0.5, 24),
  });
});

type Graph = typeof graphs extends fc.Arbitrary<infer Value> ? Value : never;

/**
 * Solves `p = (1 − α)·Mᵀp + α·s` by elimination, where nodes without edges lead back to the seeds,
 * unless a walker may stay.
 */
function solve(
  nodeCount: number,
  oneWay: readonly WeightedEdge[],
  seeds: ReadonlyMap<number, number>,
  restartProb: number,
  inertia: number,
): number[] {
  const edges = oneWay.flatMap(({ from, to, weight }) => [
    { from, to, weight },
    { from: to, to: from, weight },
  ]);
  if (inertia > 0) {
    for (let node = 0; node < nodeCount; node += 1) edges.push({ from: node, to: node, weight: inertia });
  }
  const matrix: number[][] = Array.from({ length: nodeCount }, (_row, row) =>
    Array.from({ length: nodeCount + 1 }, (_column, column) => (row === column ? 1 : 0)),
  );
  for (let from = 0; from < nodeCount; from += 1) {
    const own = edges.filter((edge) => edge.from === from);
    const total = own.reduce((sum, { weight }) => sum + weight, 0);
    for (const { to, weight } of own) (matrix[to] as number[])[from]! -= ((1 - restartProb) * weight) / total;
    if (own.length === 0)
      for (const [seed, chance] of seeds) (matrix[seed] as number[])[from]! -= (1 - restartProb) * chance;
  }
  for (const [seed, chance] of seeds) (matrix[seed] as number[])[nodeCount] = restartProb * chance;
  for (let pivot = 0; pivot < nodeCount; pivot += 1) {
    const best = matrix.slice(pivot).reduce((a, b) => (Math.abs(b[pivot]!) > Math.abs(a[pivot]!) ? b : a));
    const place = matrix.indexOf(best);
    [matrix[pivot], matrix[place]] = [best, matrix[pivot] as number[]];
    for (const row of matrix) {
      if (row === best) continue;
      const factor = row[pivot]! / best[pivot]!;
      for (let column = pivot; column <= nodeCount; column += 1) row[column]! -= factor * best[column]!;
    }
  }
  return matrix.map((row, number) => row[nodeCount]! / row[number]!);
}

interface Limits {
  maxIterations: number;
  tolerance: number;
}

/** Returns the computed ranks, and the exact ones. */
function rank({ nodeCount, edges, seeds: nodes, restartProb, inertia }: Graph, limits: Limits) {
  const seeds = new Map(nodes.map((node) => [node, 1 / nodes.length]));
  const adjacency = createAdjacency(nodeCount, edges, {}, inertia);
  const { ranks } = personalizedPageRank({ adjacency, seeds, restartProb, ...limits });
  const exact = solve(nodeCount, edges, seeds, restartProb, inertia);
  return { ranks, exact, sum: ranks.reduce((sum, rank) => sum + rank, 0) };
}

describe('personalizedPageRank', () => {
  it('agrees with a direct solution', () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const { ranks, exact, sum } = rank(graph, { maxIterations: 10_000, tolerance: 1e-14 });
        exact.forEach((expected, node) => expect(ranks[node]).toBeCloseTo(expected, 9));
        expect(sum).toBeCloseTo(1, 9);
      }),
      { numRuns: 300 },
    );
  });

  it('has a bounded error, and never ranks a node too high', () => {
    const limits = fc.record({
      maxIterations: fc.integer({ min: 1, max: 20 }),
      tolerance: fc.constantFrom(0, 1e-6, 1e-3, 0.1),
    });
    fc.assert(
      fc.property(graphs, limits, (graph, { maxIterations, tolerance }) => {
        const { ranks, exact, sum } = rank(graph, { maxIterations, tolerance });
        exact.forEach((expected, node) => expect(ranks[node]).toBeLessThanOrEqual(expected + 1e-9));
        const most = (1 - graph.restartProb) ** (maxIterations + 1) + 1e-9;
        if (tolerance === 0) expect(1 - sum).toBeLessThanOrEqual(most);
      }),
      { numRuns: 300 },
    );
  });
});
