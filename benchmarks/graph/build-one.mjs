// Builds one graph and prints what it took, as JSON. Arguments: nodes, dimension.
import { buildChunkGraph } from '@quiver/rag';
import { clusteredVectors } from './clustered-vectors.mjs';

const [count, dimension] = process.argv.slice(2).map(Number);
const vectors = clusteredVectors(count, dimension);
const passages = Array.from({ length: count }, (_, n) => ({ id: String(n), document: '' }));
const start = performance.now();
const graph = await buildChunkGraph({ passages, vectors, dimension });
const buildMs = performance.now() - start;

const times = [];
for (let round = 0; round < 50; round += 1) {
  const seeds = Array.from({ length: 10 }, (_, n) => ({
    id: String((round * 7919 + n * 104_729) % count),
    score: 1 / (n + 1),
  }));
  const before = performance.now();
  graph.rank({ seeds });
  times.push(performance.now() - before);
}
const rankMs = times.toSorted((a, b) => a - b)[25];
console.log(
  JSON.stringify({
    edges: graph.edgeCount,
    buildMs,
    recall: graph.recall,
    maxRssMb: process.resourceUsage().maxRSS / 1e3,
    snapshotMb: graph.serialize().length / 1e6,
    rankMs,
  }),
);
