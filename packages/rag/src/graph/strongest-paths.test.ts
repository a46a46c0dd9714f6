import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAdjacency, type Adjacency } from './adjacency.js';
import { strongestPaths } from './strongest-paths.js';

const graphs = fc.integer({ min: 1, max: 10 }).chain((nodeCount) => {
  const node = fc.integer({ min: 0, max: nodeCount - 1 });
  return fc.record({
    nodeCount: fc.constant(nodeCount),
    edges: fc.array(
      fc.record({
        from: node,
        to: node,
        weight: fc.constantFrom(0.5, 1, 1, 3),
        kind: fc.constant('kind'),
        reason: fc.constant('reason'),
      }),
      { maxLength: 25 },
    ),
    seeds: fc.uniqueArray(node, { minLength: 1, maxLength: 3 }),
    closed: fc.uniqueArray(node, { maxLength: 3 }),
    inertia: fc.constantFrom(0, 1),
  });
});

/** The largest product of probabilities to each node, found by trying every arc again and again. */
function largestChances(
  { nodeCount, offsets, targets, probabilities }: Adjacency,
  seeds: ReadonlyMap<number, number>,
  closed: readonly number[],
): number[] {
  const best = Array.from({ length: nodeCount }, (_, node) => seeds.get(node) ?? 0);
  for (let round = 0; round < nodeCount; round += 1) {
    for (let node = 0; node < nodeCount; node += 1) {
      for (let arc = offsets[node] as number; arc < (offsets[node + 1] as number); arc += 1) {
        const target = targets[arc] as number;
        if (seeds.has(target) || closed.includes(target)) continue;
        best[target] = Math.max(best[target] as number, (best[node] as number) * (probabilities[arc] as number));
      }
    }
  }
  return best;
}

describe('strongestPaths', () => {
  it('finds, for each target, a arc from a seed that no other is likelier than', () => {
    fc.assert(
      fc.property(graphs, ({ nodeCount, edges, seeds: seedNodes, closed, inertia }) => {
        const adjacency = createAdjacency(nodeCount, edges, {}, inertia);
        const seeds = new Map(seedNodes.map((node, place) => [node, 1 / (place + 1)]));
        const shut = closed.filter((node) => !seeds.has(node));
        const targets = Array.from({ length: nodeCount }, (_, node) => node);
        const paths = strongestPaths({ adjacency, seeds, targets, allowed: (node) => !shut.includes(node) });
        const best = largestChances(adjacency, seeds, shut);
        for (const target of targets) {
          const path = paths.get(target);
          expect(path !== undefined).toBe((best[target] as number) > 0);
          if (!path) continue;
          let node = target;
          let chance = 1;
          for (const { from, edge } of path.toReversed()) {
            const start = adjacency.offsets[from] as number;
            const arc = adjacency.edges.indexOf(edge, start);
            expect(arc).toBeLessThan(adjacency.offsets[from + 1] as number);
            expect(adjacency.targets[arc]).toBe(node);
            node = from;
            chance *= adjacency.probabilities[arc] as number;
          }
          expect(seeds.has(node)).toBe(true);
          expect(chance * (seeds.get(node) as number)).toBeCloseTo(best[target] as number, 12);
        }
      }),
      { numRuns: 300 },
    );
  });
});
